// Keys of the staff's queue: each presses the button that shows it. While a decision is on its way nothing is pressed,
// since nobody has read yet what comes next.
(() => {
  let busy = false;
  document.addEventListener("htmx:beforeRequest", () => { busy = true; });
  for (const end of ["htmx:afterRequest", "htmx:sendError"]) {
    document.addEventListener(end, () => { busy = false; });
  }
  document.addEventListener("htmx:afterSettle", () => {
    const waiting = document.getElementById("waiting");
    if (!waiting) return;
    // htmx leaves the focus in the field of the reason, where keys are letters; once a text is open they decide.
    if (document.activeElement?.id === "reason") waiting.querySelector("h2 ~ .staff-text")?.focus({ preventScroll: true });
    // The sidebar counts the same, beside the entry of this page.
    const badge = document.querySelector("#nav-sidebar-apps a.active > span:nth-child(3)");
    if (badge) badge.textContent = waiting.dataset.total;
  });
  document.addEventListener("keydown", (event) => {
    if (busy || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const button = document.querySelector(`#waiting [data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
})();
