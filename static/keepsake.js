// Says so when a decision did not reach the server, or the server could not carry it out: htmx itself stays silent.
(() => {
  const say = (text) => {
    const trouble = document.getElementById("trouble");
    trouble.hidden = !text;
    trouble.textContent = text;
  };
  document.addEventListener("htmx:beforeRequest", () => say(""));
  document.addEventListener("htmx:sendError", () => say(inWords("Keepsake could not be reached. Nothing was changed; please try again.")));
  document.addEventListener("htmx:responseError", () => say(inWords("That did not work. Please reload the page and try again.")));
})();

// A file that is too large is told before it is sent: a server that refuses it half-way can't answer.
(() => {
  const file = document.querySelector("input[type=file][data-most-bytes]");
  file?.addEventListener("change", () => {
    const most = Number(file.dataset.mostBytes);
    const large = [...file.files].some((each) => each.size > most);
    file.setCustomValidity(large ? inWords("This file is larger than {size} MB.", { size: Math.floor(most / 1048576) }) : "");
    file.reportValidity();
  });
})();

// A file may be dropped anywhere on the form that takes it.
for (const form of document.querySelectorAll("form[data-drop]")) {
  const field = form.querySelector("input[type=file]");
  const over = (event) => event.dataTransfer?.types.includes("Files");
  form.addEventListener("dragover", (event) => {
    if (!over(event)) return;
    event.preventDefault();
    form.classList.add("is-over");
  });
  for (const away of ["dragleave", "drop"]) form.addEventListener(away, () => form.classList.remove("is-over"));
  form.addEventListener("drop", (event) => {
    if (!over(event)) return;
    event.preventDefault();
    field.files = event.dataTransfer.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    field.focus();
  });
}

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
      document.getElementById("said").textContent = inWords("Copied.");
      button.textContent = inWords("Copied");
    } catch {
      getSelection().selectAllChildren(source);
    }
  });
}

// Who never chose a time zone is offered that of the browser; it holds once they save.
{
  const zones = document.querySelector("select[data-guess]");
  const here = zones && [...zones.options].find((each) => each.value === Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (here) here.selected = true;
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
