// Keys of the staff's queue: each clicks the button labelled with it. Ignored while a decision is pending, because the
// next item has not been seen yet.
(() => {
  let busy = false;
  document.addEventListener("htmx:beforeRequest", () => { busy = true; });
  for (const end of ["htmx:afterRequest", "htmx:sendError"]) {
    document.addEventListener(end, () => { busy = false; });
  }
  document.addEventListener("htmx:afterSettle", () => {
    const waiting = document.getElementById("waiting");
    if (!waiting) return;
    // htmx keeps the focus in the reason's field, where keys are text: move it once a text is open, so that keys decide.
    if (document.activeElement?.id === "reason") waiting.querySelector("h2 ~ .staff-text")?.focus({ preventScroll: true });
    // Update the sidebar's count of this page.
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
