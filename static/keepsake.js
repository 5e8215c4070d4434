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

// The review queue by keyboard. A key presses the button or opens the form that carries it as data-key. It waits until
// htmx has taken over the forms, which it does on the same event and before: a form sent earlier would load a new page.
document.addEventListener("DOMContentLoaded", () => {
  const help = document.getElementById("keys");
  if (!help) return;
  const STORED = "keepsake-keys";
  const typing = "input, textarea, select, [contenteditable]";
  const toggle = document.getElementById("keys-on");
  const opener = document.getElementById("keys-open");
  let on = true;
  try {
    on = localStorage.getItem(STORED) !== "off";
  } catch {
    // Without storage the keys are on.
  }
  const apply = () => document.documentElement.classList.toggle("no-keys", !on);
  apply();
  opener.hidden = false;
  toggle.checked = on;
  toggle.addEventListener("change", () => {
    on = toggle.checked;
    apply();
    try {
      localStorage.setItem(STORED, on ? "on" : "off");
    } catch {
      // It holds for this page then.
    }
  });
  opener.addEventListener("click", () => help.showModal());

  const press = (target) => {
    if (target.tagName !== "SUMMARY") {
      target.click();
      return;
    }
    target.parentElement.open = true;
    const field = target.parentElement.querySelector("textarea, input:not([type=hidden])");
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
    const form = event.target.closest("#review details[open]");
    if (event.key === "Escape" && form) {
      form.open = false;
      form.querySelector("summary").focus();
      return;
    }
    if (!on || event.repeat || event.target.closest(typing)) return;
    if (event.key === "?") {
      event.preventDefault();
      help.showModal();
      return;
    }
    if (event.key === " " && event.target.closest("a, button, summary")) return;
    if (document.querySelector("#review.htmx-request, #review .htmx-request")) return;
    const key = event.key === " " ? "j" : event.key.toLowerCase();
    const target = /^[a-z]$/.test(key) && document.querySelector(`#review [data-key="${key}"]`);
    if (target) {
      event.preventDefault();
      press(target);
    }
  });
});

// A file that is too large is told before it is sent: a server that refuses it half-way can't answer.
(() => {
  const file = document.querySelector("input[type=file][data-most-bytes]");
  file?.addEventListener("change", () => {
    const most = Number(file.dataset.mostBytes);
    const large = [...file.files].some((each) => each.size > most);
    file.setCustomValidity(large ? `This file is larger than ${Math.floor(most / 1048576)} MB.` : "");
    file.reportValidity();
  });
})();

// Ctrl+Enter, or Cmd+Enter, saves what is being written over several lines.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
  if (event.target.matches(".edit-fields textarea")) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

// A part that is asked for again and again waits while nobody sees it.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.elt.matches("[hx-trigger^=every]")) event.preventDefault();
});

// Buttons that copy what stands in an element; where the browser keeps scripts from copying, it is selected instead.
for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      document.getElementById("said").textContent = "Copied.";
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
    }
  });
}

// Shift and a click ticks all rows from the one that was ticked before.
(() => {
  let last = null;
  document.addEventListener("click", (event) => {
    if (!event.target.matches(".pick input")) return;
    const boxes = [...document.querySelectorAll(".pick input")];
    const from = boxes.indexOf(last);
    const to = boxes.indexOf(event.target);
    if (event.shiftKey && from >= 0) {
      for (const box of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) box.checked = event.target.checked;
    }
    last = event.target;
  });
})();
