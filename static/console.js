// What a page does beyond HTML. Everything works without it. Listeners sit on the document, so parts that are swapped
// in need no set-up; no styles are written and no markup is made from text.
"use strict";

const root = document.documentElement;

// The browser's zone goes to the server, which writes all times. A first visit in another zone is drawn again once.
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || document.cookie.split("; ").includes("tz=" + encodeURIComponent(zone))) return;
  document.cookie = `tz=${encodeURIComponent(zone)}; path=/; max-age=31536000; SameSite=Lax`;
  const kept = document.cookie.includes("tz=");
  const differs = !("zonePinned" in root.dataset) && root.dataset.zone !== zone && !(zone === "Etc/UTC" && root.dataset.zone === "UTC");
  if (kept && differs && document.querySelector("time")) location.reload();
})();

// Copy buttons are shown only where copying works.
const showCopyButtons = (within) => {
  if (!navigator.clipboard) return;
  for (const button of within.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), 1200);
  } catch {
    // The text stays selectable beside the button.
  }
});

// "/" goes to the search box, Escape leaves an open menu.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const box = document.getElementById("find");
    if (box) {
      event.preventDefault();
      box.focus();
      box.select();
    }
  }
  if (event.key === "Escape") closeMenus(null);
});

// A menu closes when something else is clicked.
const closeMenus = (except) => {
  for (const menu of document.querySelectorAll("details.switch[open]")) {
    if (menu !== except) menu.open = false;
  }
};
document.addEventListener("click", (event) => closeMenus(event.target.closest("details.switch")));

// A button that waits for a typed name: <form data-confirm="orders"> with <input name="confirm"> and a button. The
// server checks the name as well.
const checkConfirm = (form) => {
  const typed = form.querySelector("input[name=confirm]");
  const button = form.querySelector("button[type=submit]");
  if (typed && button) button.disabled = typed.value !== form.dataset.confirm;
};
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-confirm]");
  if (form) checkConfirm(form);
});

// A box that chooses all: <label data-check-all="places" hidden> with a checkbox, among the boxes of that name in its form.
document.addEventListener("change", (event) => {
  const all = event.target.closest("[data-check-all]");
  if (!all) return;
  const form = all.closest("form");
  for (const box of form.elements) {
    if (box.type === "checkbox" && box.name === all.dataset.checkAll) box.checked = event.target.checked;
  }
});

// A form is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if ("sent" in form.dataset) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Whether the live view is connected.
const live = (state) => {
  for (const mark of document.querySelectorAll(".live")) mark.dataset.state = state;
};
document.addEventListener("htmx:sse:after:connection", () => live("on"));
document.addEventListener("htmx:sse:error", () => live("off"));
document.addEventListener("htmx:sse:close", () => live("off"));

const ready = (within) => {
  showCopyButtons(within);
  for (const all of within.querySelectorAll("[data-check-all][hidden]")) all.hidden = false;
  for (const form of within.querySelectorAll("form[data-confirm]")) checkConfirm(form);
};
document.addEventListener("htmx:after:swap", () => ready(document));
document.addEventListener("htmx:sse:after:message", () => ready(document));
ready(document);
