// Show an error if a request failed: htmx itself shows none.
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

// Reject a file that is too large before sending it: if the server aborts the upload, no response arrives.
(() => {
  const file = document.querySelector("input[type=file][data-most-bytes]");
  file?.addEventListener("change", () => {
    const most = Number(file.dataset.mostBytes);
    const large = [...file.files].some((each) => each.size > most);
    file.setCustomValidity(large ? inWords("This file is larger than {size} MB.", { size: Math.floor(most / 1048576) }) : "");
    file.reportValidity();
  });
})();

// Accept a file dropped anywhere on its form.
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

// Ctrl+Enter or Cmd+Enter submits a multi-line field.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
  if (event.target.matches(".edit-fields textarea")) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

// Pause polling while the page is hidden.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.elt.matches("[hx-trigger^=every]")) event.preventDefault();
});

// A row keeps its height when a decision swaps it, as what is offered after it takes less room: nothing below moves.
// Where more was opened in it, such as the form to edit it, that closes with it.
{
  const high = (element) => element.getBoundingClientRect().height;
  let row = null;
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    const opened = target.querySelector(".opened details[open], .opened .refusal");
    row = target.matches(".fact") && !opened ? { id: target.id, height: high(target) } : null;
  });
  document.addEventListener("htmx:afterSwap", () => {
    const swapped = row && document.getElementById(row.id);
    const foot = swapped?.querySelector(".fact-foot");
    const less = foot ? row.height - high(swapped) : 0;
    if (less > 0) foot.style.minHeight = `${high(foot) + less}px`;
    row = null;
  });
}

// Buttons that copy an element's text; if the browser forbids it, the text is selected instead.
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

// Preselect the browser's time zone if none was chosen; it applies once saved.
{
  const zones = document.querySelector("select[data-guess]");
  const here = zones && [...zones.options].find((each) => each.value === Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (here) here.selected = true;
}

// Shift+click ticks all rows from the last ticked one.
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
