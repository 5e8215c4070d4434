// Translate a script's text (desk/templatetags/scripts.py) and fill in its placeholders in braces.
const inWords = (text, filled = {}) => {
  const texts = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
  return (texts[text] ?? text).replace(/{(\w+)}/g, (_, name) => filled[name]);
};
