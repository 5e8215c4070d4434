// Everything that folds open. Escape folds up the innermost part that has the focus, which returns to what opened it. The
// menu, which lies over the page, is also closed by a press elsewhere, and when the focus has moved on.
(() => {
  const close = (part, focus) => {
    part.open = false;
    if (focus) part.querySelector("summary").focus({ preventScroll: true });
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const part = event.target.closest("details[open]") ?? document.querySelector(".further[open]");
    if (part) close(part, true);
  });
  const leave = (event) => {
    const menu = document.querySelector(".further[open]");
    if (!menu || menu.contains(event.target)) return;
    // What can't take the focus gives it to the page as a whole.
    const nowhere = document.activeElement.matches("body, main");
    if (event.type === "click" || !nowhere) close(menu, nowhere);
  };
  document.addEventListener("click", leave);
  document.addEventListener("focusin", leave);
})();
