// Preserve form input across an expired session: it is kept in this tab's storage until the server has responded, and
// restored when the same person has signed in again.
(() => {
  const KEPT = "keepsake:typed";
  const person = document.body.dataset.person;
  if (!person) return;
  const here = () => location.pathname + location.search;
  const isSecret = (field) => ["hidden", "password", "file", "submit", "button"].includes(field.type);
  const addressOf = (form) => form.getAttribute("hx-post") ?? form.getAttribute("action") ?? "";
  const typedIn = (form) => [...form.elements]
    .filter((field) => field.name && !isSecret(field) && !field.disabled)
    .map((field) => [field.name, ["checkbox", "radio"].includes(field.type) ? field.checked : field.value, field.defaultValue ?? ""]);
  const keep = (form) => {
    if (form.method !== "post" || "keepsDraft" in form.dataset || "queue" in form.dataset) return;
    const fields = typedIn(form);
    if (fields.length) sessionStorage.setItem(KEPT, JSON.stringify({ person, page: here(), form: addressOf(form), fields }));
  };
  document.addEventListener("submit", (event) => keep(event.target), true);
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.xhr.status && !event.detail.xhr.getResponseHeader("HX-Redirect")) sessionStorage.removeItem(KEPT);
  });

  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  const signedIn = document.referrer && new URL(document.referrer).pathname === document.body.dataset.signIn;
  // Restore only after signing in, or from the page that refused an expired form: otherwise the form was accepted.
  sessionStorage.removeItem(KEPT);
  if (!kept || kept.person !== person || !(signedIn || location.hash === "#expired")) return;
  const form = kept.page === here() && [...document.forms].find((each) => each.method === "post" && addressOf(each) === kept.form);
  if (form) {
    for (const [name, value] of kept.fields) {
      for (const field of [...form.elements].filter((each) => each.name === name && !isSecret(each))) {
        if (typeof value !== "boolean") field.value = value;
        else if (field.type === "checkbox") field.checked = value;
      }
    }
    for (let part = form.closest("details"); part; part = part.parentElement?.closest("details")) part.open = true;
    form.querySelector("textarea, input:not([type=hidden])")?.focus();
  }
  const typed = kept.fields.map(([, value]) => value).filter((value) => typeof value === "string" && value.trim());
  if (!form && !typed.length) return;
  const trouble = document.getElementById("trouble");
  trouble.hidden = false;
  trouble.textContent = form
    ? inWords("You had been signed out, so this was not saved. What you typed is here again.")
    : inWords("You had been signed out, so this was not saved: {text}", { text: typed.join(" · ") });
})();
