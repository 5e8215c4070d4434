// A text of a script in the language of the page (desk/templatetags/scripts.py), with what stands in braces filled in.
const inWords = (text, filled = {}) => {
  const texts = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
  return (texts[text] ?? text).replace(/{(\w+)}/g, (_, name) => filled[name]);
};
