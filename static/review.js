// The review queue: prefetches items, sends decisions one after another while the next item is already shown, and
// queues key presses. Without this script each form reloads the page.
document.addEventListener("DOMContentLoaded", () => {
  const AHEAD = 5;
  const DECIDED = "keepsake:decided";
  const person = document.body.dataset.person;
  const TYPING = "input, textarea, select, [contenteditable]";
  const keys = setUpKeys();
  let ahead = []; // Prefetched items, in order.
  let behind = []; // Skipped items, the last one last.
  let sent = []; // Decisions without a response yet.
  let typed = []; // Queued key presses.
  let refused = ""; // The panel of the first decision that was rejected while others were pending.
  let busy = false; // Whether the panel itself is being loaded; decisions are blocked meanwhile.
  let sending = false;
  let loading = null; // The promise of the running prefetch.
  let ended = false;
  let leaving = false;
  let signedOut = false;

  const panel = () => document.getElementById("review");
  const item = () => document.getElementById("item");
  const keyOf = (article) => new URL(article.dataset.address, location.href).searchParams.get("item");

  // --- Sending ----------------------------------------------------------------------------------------------------

  const ask = async (address, options = {}) => {
    const answer = await fetch(address, { ...options, headers: { "HX-Request": "true", "HX-Current-URL": location.href } });
    const elsewhere = answer.headers.get("HX-Redirect");
    if (elsewhere) {
      // The session has ended: pending decisions are sent again once the same person has signed in.
      if (options.body && !sent.length) sent = [{ address, body: options.body }];
      signedOut = true;
      location.assign(elsewhere);
      return new Promise(() => {});
    }
    if (!answer.ok && ![404, 409, 422].includes(answer.status)) throw new Error(String(answer.status));
    const moved = answer.headers.get("HX-Replace-Url");
    if (moved) history.replaceState(null, "", moved);
    return { html: await answer.text(), page: answer.redirected && answer.url };
  };

  const fail = () => {
    typed = [];
    document.dispatchEvent(new Event("htmx:sendError"));
  };

  const load = () => {
    if (loading || ended || busy || !item()?.dataset.address || ahead.length >= AHEAD) return;
    const last = ahead.at(-1) ?? item();
    const query = new URL(last.dataset.address, location.href).searchParams;
    const most = AHEAD - ahead.length;
    query.set("most", most);
    const asked = ask(`${panel().dataset.ahead}?${query}`)
      .then(({ html }) => {
        if (loading !== asked) return;
        loading = null;
        const holder = document.createElement("template");
        holder.innerHTML = html;
        const found = [...holder.content.querySelectorAll("article")];
        ahead.push(...found);
        ended = found.length < most;
        load();
      })
      .catch(() => {
        if (loading !== asked) return;
        loading = null;
        ended = true; // Fall back to asking the server each time.
      });
    loading = asked;
  };

  // Replace the panel by the server's. Prefetched items belonged to the old one.
  const swap = (html) => {
    ahead = [];
    behind = [];
    ended = false;
    loading = null;
    htmx.swap("#review", html, { swapStyle: "outerHTML" });
    tidy();
    load();
  };

  const visit = async (address, options) => {
    busy = true;
    panel().classList.add("htmx-request");
    try {
      await drained();
      const { html, page } = await ask(address, options);
      busy = false;
      if (page && !html.trimStart().startsWith('<div id="review"')) location.assign(page);
      else swap(html);
    } catch {
      busy = false;
      fail();
    }
    panel().classList.remove("htmx-request");
    type();
  };

  let tell = [];
  const drained = () => (sending ? new Promise((done) => tell.push(done)) : Promise.resolve());

  const send = async () => {
    if (sending) return;
    sending = true;
    while (sent.length && !leaving) {
      const { address, body } = sent[0];
      try {
        const { html } = await ask(address, { method: "POST", body, keepalive: true });
        sent.shift();
        if (html.trimStart().startsWith('<div id="review"')) {
          refused ||= html;
          typed = [];
        } else {
          htmx.swap("#after", html, { swapStyle: "outerHTML" });
          announce(document.getElementById("after").dataset.said);
        }
      } catch {
        if (leaving) return;
        // Show undecided items again, in order.
        const again = sent.map((each) => each.article);
        sent = [];
        ahead = [...again.slice(1), item(), ...ahead];
        show(again[0], -again.length);
        fail();
      }
    }
    sending = false;
    if (refused) {
      const html = refused;
      refused = "";
      swap(html);
    }
    const waiting = tell;
    tell = [];
    waiting.forEach((done) => done());
    load();
    type();
  };

  // On leaving the page, send all queued decisions at once.
  addEventListener("pagehide", () => {
    leaving = true;
    if (signedOut) {
      const decided = sent.map(({ address, body }) => [address, String(body)]);
      sessionStorage.setItem(DECIDED, JSON.stringify({ person, decided }));
      return;
    }
    for (const { address, body } of sent.slice(1)) {
      fetch(address, { method: "POST", body, keepalive: true, headers: { "HX-Request": "true" } });
    }
  });

  // --- Showing ----------------------------------------------------------------------------------------------------

  const announce = (text) => {
    document.getElementById("said").textContent = text ? `${text} ${document.getElementById("where").textContent.trim()}.` : "";
  };

  const show = (article, steps) => {
    item().replaceWith(article);
    const number = document.querySelector("#where strong");
    number.textContent = Number(number.textContent) + steps;
    panel().querySelector("progress").value += steps;
    history.replaceState(null, "", article.dataset.address);
    tidy();
    article.querySelector(".claim").focus();
    scrollTo(0, 0);
  };

  // Show "back" only if there are skipped items.
  const tidy = () => {
    const back = document.querySelector('#review [data-key="k"]');
    if (back) back.hidden = !back.getAttribute("href") && !behind.length;
  };

  const edit = (open) => {
    const place = item().querySelector(".in-place");
    const claim = item().querySelector(".claim");
    place.hidden = !open;
    claim.classList.toggle("for-readers", open);
    if (open) {
      const field = place.querySelector("textarea, input:not([type=hidden])");
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
    } else {
      place.querySelector("form").reset();
      item().querySelector('[data-decision="edit"]').focus();
    }
  };

  // --- Actions ----------------------------------------------------------------------------------------------------

  // Continue once the next item is loaded, or the queue is known to be empty.
  const onceLoaded = (then) => {
    if (ahead.length || !loading) return then();
    busy = true;
    const asked = loading;
    return asked.then(() => {
      busy = false;
      load();
      then();
      type();
    });
  };

  const decide = (form) =>
    onceLoaded(() => {
      const article = item();
      const body = new URLSearchParams(new FormData(form));
      if (!ahead.length) {
        visit(form.action, { method: "POST", body });
        return;
      }
      body.set("ahead", keyOf(ahead[0]));
      sent.push({ address: form.action, body, article });
      show(ahead.shift(), 1);
      load();
      send();
    });

  const later = () =>
    onceLoaded(() => {
      if (!ahead.length) {
        visit(panel().dataset.end);
        return;
      }
      behind.push(item());
      show(ahead.shift(), 1);
      load();
      announce(" ");
    });

  const back = (link) => {
    if (behind.length) {
      ahead.unshift(item());
      show(behind.pop(), -1);
      announce(" ");
    } else visit(link.href);
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("#review form[data-queue]")) return;
    event.preventDefault();
    if (busy) return;
    if (form.closest("#item")) decide(form);
    else visit(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#review a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    if (link.matches("[data-decision=edit], [data-cancel], [data-queue]")) event.preventDefault();
    else return;
    if (busy) return;
    if (link.matches("[data-decision=edit]")) edit(true);
    else if (link.matches("[data-cancel]")) edit(false);
    else if (link.dataset.key === "k") back(link);
    else later();
  });

  // --- Keys -------------------------------------------------------------------------------------------------------

  const type = () => {
    while (typed.length && !busy) {
      if (typed[0] === "u" && sending) {
        busy = true;
        drained().then(() => {
          busy = false;
          type();
        });
        return;
      }
      const key = typed.shift();
      const target = document.querySelector(`#review [data-key="${key}"]:not([hidden])`);
      if (key === "e") typed = []; // Later keys are meant for the form.
      target?.click();
    }
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || keys.shown()) return;
    if (event.key === "Escape" && event.target.closest("#review .in-place")) {
      edit(false);
      return;
    }
    if (!keys.on() || event.repeat || event.target.closest(TYPING)) return;
    if (event.key === "?") {
      event.preventDefault();
      keys.show();
      return;
    }
    if (event.key === " " && event.target.closest("a, button, summary")) return;
    const key = event.key === " " ? "j" : event.key.toLowerCase();
    if (!/^[a-z]$/.test(key)) return;
    event.preventDefault();
    typed.push(key);
    type();
  });

  // The help of keys; keys can be switched off for this browser.
  function setUpKeys() {
    const STORED = "keepsake-keys";
    const help = document.getElementById("keys");
    const toggle = document.getElementById("keys-on");
    const opener = document.getElementById("keys-open");
    let on = true;
    try {
      on = localStorage.getItem(STORED) !== "off";
    } catch {
      // Without storage, keys are on.
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
        // Without storage, it applies to this page only.
      }
    });
    opener.addEventListener("click", () => help.showModal());
    return { on: () => on, shown: () => help.open, show: () => help.showModal() };
  }

  const takeUp = async () => {
    const kept = JSON.parse(sessionStorage.getItem(DECIDED) ?? "null");
    sessionStorage.removeItem(DECIDED);
    for (const [address, said] of kept?.person === person ? kept.decided : []) {
      const body = new URLSearchParams(said);
      body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
      body.delete("ahead");
      await visit(address, { method: "POST", body });
    }
  };

  tidy();
  takeUp().then(load);
});
