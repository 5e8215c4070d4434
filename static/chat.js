// The chat with the assistant. The forms work without it. It sends messages over the API, shows the streamed answer, and
// then loads the finished messages from the server, with what was remembered of them.
(() => {
  const composer = document.getElementById("composer");
  const field = composer?.querySelector("[data-composer]");
  if (!field) return;
  const DRAFT = `keepsake-draft:${location.pathname}`;
  const draft = (text) => {
    try {
      if (text) sessionStorage.setItem(DRAFT, text);
      else sessionStorage.removeItem(DRAFT);
    } catch {
      // Without storage a draft is lost with the page.
    }
  };
  try {
    // Deciding about a memory or signing in again reloads the page.
    if (!field.value) field.value = sessionStorage.getItem(DRAFT) ?? "";
  } catch {
    // Without storage there is no draft.
  }
  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, innerHeight / 3)}px`;
  };
  field.addEventListener("input", () => {
    grow();
    draft(field.value);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (!event.repeat && field.value.trim()) composer.requestSubmit();
  });
  grow();

  // Suggested beginnings: a press puts one into the field to be continued.
  const begins = document.getElementById("begins");
  if (begins) {
    const about = composer.querySelector("[name=about]");
    const offer = () => {
      const name = about?.value ? about.selectedOptions[0].textContent : "";
      for (const button of begins.querySelectorAll("button")) {
        button.hidden = (button.dataset.of === "legacy") !== Boolean(name);
        button.textContent = button.dataset.says.replace("{name}", name);
      }
    };
    about?.addEventListener("change", offer);
    begins.addEventListener("click", (event) => {
      if (!event.target.matches("button")) return;
      field.value = event.target.textContent.replace(/…$/, "");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.focus();
    });
    offer();
    begins.hidden = false;
  }

  const chat = document.querySelector("[data-chat]");
  if (!chat) {
    composer.addEventListener("submit", () => draft(""));
    return;
  }
  const now = document.getElementById("now");
  const trouble = document.getElementById("said-trouble");
  const stop = document.getElementById("stop");
  const send = composer.querySelector("[type=submit]");
  const token = composer.querySelector("[name=csrfmiddlewaretoken]").value;
  const how = composer.querySelector("[name=mode]");
  const READS_AGAIN = 10;
  let next = Number(chat.dataset.next);
  let reply = "";
  let once = "";
  let waits = false;
  let poll = 0;

  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const tell = (text) => {
    trouble.hidden = !text;
    trouble.textContent = text;
    // Otherwise it may be out of view, behind the composer.
    if (text) trouble.scrollIntoView({ block: "center" });
  };
  const tellRefusal = async (answer) => {
    if (answer.status !== 401 && answer.status !== 403) {
      tell(await refused(answer));
      return;
    }
    tell(inWords("You are signed out. What you typed is kept here."));
    const back = trouble.appendChild(document.createElement("a"));
    back.href = `${document.body.dataset.signIn}?next=${encodeURIComponent(location.pathname + location.search)}`;
    back.textContent = inWords("Sign in again");
    back.before(" ");
  };
  const busy = (is) => {
    send.hidden = is;
    stop.hidden = !is;
  };
  const post = (address, body, headers = {}) =>
    fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token, Accept: "text/event-stream, application/json", ...headers },
      body: body && JSON.stringify(body),
    });
  const turn = (who, text, style) => {
    const item = document.createElement("li");
    item.className = style;
    const by = item.appendChild(document.createElement("p"));
    by.className = "said-by";
    by.appendChild(document.createElement("strong")).textContent = who;
    const words = item.appendChild(document.createElement("p"));
    words.className = "said-words";
    words.textContent = text;
    now.append(item);
    item.scrollIntoView({ block: "nearest" });
    return words;
  };
  // The label above one model's answer of several, before the combined one.
  const member = (words, model) => {
    const line = document.createElement("p");
    line.className = "said-member soft small";
    line.appendChild(document.createElement("strong")).textContent = `${model}: `;
    words.before(line);
    return line.appendChild(document.createElement("span"));
  };
  const near = () => innerHeight + scrollY > document.documentElement.scrollHeight - 200;

  // Call back for each event with (name, data, id). Returns the last id when the stream ends or breaks.
  const events = async (answer, last, each) => {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let kept = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      kept += value;
      const blocks = kept.split("\n\n");
      kept = blocks.pop();
      for (const block of blocks) {
        const lines = Object.fromEntries(
          block.split("\n").filter((line) => !line.startsWith(":")).map((line) => {
            const at = line.indexOf(": ");
            return [line.slice(0, at), line.slice(at + 2)];
          }),
        );
        if (lines.event) each(lines.event, JSON.parse(lines.data), lines.id);
      }
    }
  };

  // What was fetched last, without its tokens, which differ each time.
  let fetched = "";

  // Show the messages from an index on later, but not while a message is answered or a command runs.
  const showLater = (from, again) => {
    poll = setTimeout(() => {
      if (send.hidden) showLater(from, again);
      else show(from, again).catch(() => now.querySelector("[data-reading]")?.remove());
    }, 2000);
  };

  // Show the messages from an index on; repeat while extraction is still running.
  const show = async (from, again = READS_AGAIN) => {
    clearTimeout(poll);
    const answer = await fetch(chat.dataset.latest.replace(/0\/$/, `${from}/`));
    if (!answer.ok) throw new Error("not shown");
    const made = document.createElement("template");
    made.innerHTML = await answer.text();
    if (again < READS_AGAIN && send.hidden) {
      showLater(from, again);
      return 0;
    }
    const plain = made.innerHTML.replace(/name="csrfmiddlewaretoken" value="[^"]*"/g, "");
    // What is there already stays: a press on a button that is just replaced would be lost.
    const isThere = again < READS_AGAIN && plain === fetched;
    fetched = plain;
    // Somebody may have begun to decide while it was fetched: a press on a replaced button would be lost.
    if (again < READS_AGAIN && now.contains(document.activeElement)) {
      now.querySelector("[data-reading]")?.remove();
      return 0;
    }
    const items = [...made.content.children].filter((item) => item.matches("li"));
    if (!isThere) {
      for (const old of [...now.children]) {
        const number = Number(old.id.slice(1));
        if (!("command" in old.dataset) && (!number || number >= from)) old.remove();
      }
      for (const item of items) {
        document.getElementById(item.id || "-")?.remove();
        // A command and its answer are in no fetched message, and stay where they were typed.
        const number = Number(item.id.slice(1)) || Infinity;
        const later = [...now.children].find((each) => Number(each.dataset.command) > number);
        now.insertBefore(item, later ?? null);
      }
    }
    // What one of the decisions does is explained once there is one.
    if (now.querySelector(".said-learned .said-decisions")) document.getElementById("away-means").hidden = false;
    const reading = now.querySelector("[data-reading]");
    if (reading && again > 1) showLater(from, again - 1);
    else reading?.remove();
    return items.filter((item) => item.id).length;
  };

  // What was sent while an answer was written goes now, unless it was changed since.
  const sendWaiting = () => {
    if (!waits) return;
    waits = false;
    tell("");
    composer.requestSubmit();
  };

  const follow = async (answer, id, from, words) => {
    reply = id;
    busy(true);
    let last = "0";
    let over = false;
    let begun = false;
    let commanded = false;
    const members = {};
    const each = (name, data, at) => {
      last = at || last;
      if (name === "token") {
        const stays = near();
        words.textContent = begun ? words.textContent + data.text : data.text;
        begun = true;
        if (stays) words.scrollIntoView({ block: "end" });
      } else if (name === "member") {
        const place = (members[data.model] ||= member(words, data.model));
        place.textContent += data.text ?? inWords("no answer");
      } else if (name === "command") {
        commanded = true;
        const told = words.closest("li");
        // The message that comes next stands below them.
        for (const item of [told.previousElementSibling, told]) item.dataset.command = next;
      } else if (name === "tool" && data.ok && !begun) words.textContent = "…";
      else if (name === "done") over = true;
    };
    // What was done without a model has no id, and is not told again.
    for (let tries = 0; !over && tries < (id ? 5 : 1); tries += 1) {
      try {
        if (tries) {
          await wait(500 * tries);
          answer = await fetch(`${chat.dataset.chat}${id}/`, { headers: { "Last-Event-ID": last, Accept: "text/event-stream" } });
        }
        if (answer.ok) await events(answer, last, each);
      } catch {
        // The connection broke: the server keeps events for a while, so resume.
      }
    }
    reply = "";
    words.setAttribute("aria-busy", "false");
    busy(false);
    if (!over) {
      tell(inWords("The answer could not be followed to its end. Reload the page to see what came of it."));
      return;
    }
    if (commanded) {
      const line = words.closest("li").appendChild(document.createElement("p"));
      line.className = "said-used soft small";
      line.textContent = inWords("A command: neither it nor this answer is kept in the conversation.");
      scrollTo(0, document.documentElement.scrollHeight);
      sendWaiting();
      return;
    }
    try {
      // Agreement concerns the message before, so reload that one too.
      const first = Math.max(1, from - 2);
      next = first + (await show(first));
      // A refusal may have withheld earlier messages, which are still shown.
      if (document.querySelector(`#m${from} .said-words .tag.gone`)) location.reload();
      scrollTo(0, document.documentElement.scrollHeight);
    } catch {
      tell(inWords("The answer is saved. Reload the page to see it with what was remembered."));
    }
    sendWaiting();
  };

  const refused = async (answer) => {
    if (answer.status === 413) return inWords("That is too long to send.");
    try {
      const said = await answer.json();
      if (said.code === "too_many_streams") return inWords("Too many answers are being written for you at once. Wait for one to end, or close another page.");
      if (said.code === "reply_running") return inWords("An answer is still being written here. Wait for it, or reload the page to see it.");
      if (Array.isArray(said.content)) return said.content.join(" ");
      if (typeof said.detail === "string") return said.detail;
    } catch {
      // Not JSON: an error page of a proxy.
    }
    return inWords("Keepsake could not take it. Please try again in a moment.");
  };

  // Await the request that starts a reply. If it fails, show why and return nothing.
  const startReply = async (request, unreachable) => {
    try {
      const answer = await request;
      if (answer.ok) return answer;
      await tellRefusal(answer);
    } catch {
      tell(unreachable);
    }
    busy(false);
  };

  // Show a placeholder of the reply, which its words replace.
  const pendingReply = () => {
    const words = turn(inWords("The assistant"), "…", "said-coming");
    words.setAttribute("aria-busy", "true");
    return words;
  };

  const say = async (content) => {
    const most = Number(field.dataset.most);
    if ([...content].length > most) {
      const count = (number) => number.toLocaleString(document.documentElement.lang);
      tell(inWords("That is too long: a message has at most {most} characters, and this has {has}.", { most: count(most), has: count([...content].length) }));
      return;
    }
    tell("");
    busy(true);
    once ||= crypto.randomUUID?.() ?? String(Math.random());
    // The field is free for what is typed next, which stays there.
    const mine = turn(inWords("You"), content, "mine").closest("li");
    field.value = "";
    grow();
    const answer = await startReply(
      post(chat.dataset.chat, { content, ...(how && { mode: how.value }) }, { "Idempotency-Key": once }),
      inWords("Keepsake could not be reached. What you typed is still here; please try again."),
    );
    if (!answer) {
      mine.remove();
      field.value = [content, field.value].filter(Boolean).join("\n");
      draft(field.value);
      grow();
      return;
    }
    once = "";
    draft(field.value);
    const words = pendingReply();
    await follow(answer, answer.headers.get("Keepsake-Reply"), next, words);
    field.focus({ preventScroll: true });
  };
  field.addEventListener("input", () => {
    once = "";
    if (waits) tell("");
    waits = false;
  });
  composer.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!field.value.trim()) return;
    if (reply || send.hidden) {
      waits = true;
      tell(inWords("It is sent when this answer has come."));
      return;
    }
    say(field.value);
  });
  stop.addEventListener("submit", (event) => {
    event.preventDefault();
    if (reply) post(`${chat.dataset.chat}${reply}/stop/`).catch(() => tell(inWords("It could not be stopped. Please try again.")));
  });
  document.addEventListener("submit", async (event) => {
    if (!event.target.matches("[data-retry]")) return;
    event.preventDefault();
    const id = event.target.getAttribute("action").split("/").at(-3);
    const from = Number(event.target.closest("li").id.slice(1));
    tell("");
    busy(true);
    const answer = await startReply(
      post(`${chat.dataset.chat}${id}/retry/`),
      inWords("Keepsake could not be reached. Please try again."),
    );
    if (!answer) return;
    event.target.closest(".said-missing").remove();
    const words = pendingReply();
    await follow(answer, id, from, words);
  });
  if (chat.dataset.running) {
    const words = now.querySelector("[data-coming] .said-words");
    fetch(`${chat.dataset.chat}${chat.dataset.running}/`, { headers: { Accept: "text/event-stream" } })
      .then((answer) => follow(answer, chat.dataset.running, next - 1, words))
      .catch(() => tell(inWords("The answer could not be followed. Reload the page to see what came of it.")));
  }
  if ("reads" in chat.dataset) show(Math.max(1, next - 2), READS_AGAIN - 1).catch(() => {});
  // The jump to the end takes the focus there, also after this has run.
  const end = document.getElementById("end");
  const intoField = () => field.focus({ preventScroll: true });
  end.addEventListener("focus", intoField);
  if (location.hash === "#end" || chat.dataset.running) {
    scrollTo(0, document.documentElement.scrollHeight);
    intoField();
  }
})();
