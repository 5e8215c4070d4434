// Says so when a decision did not reach the server, or the server could not carry it out: htmx itself stays silent.
(() => {
  const say = (text) => {
    const trouble = document.getElementById("trouble");
    trouble.hidden = !text;
    trouble.textContent = text;
  };
  document.addEventListener("htmx:beforeRequest", () => say(""));
  document.addEventListener("htmx:sendError", () => say("Keepsake could not be reached. Nothing was changed; please try again."));
  document.addEventListener("htmx:responseError", () => say("That did not work. Please reload the page and try again."));
})();
