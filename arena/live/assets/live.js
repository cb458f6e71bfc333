/* On every page of a running event: puts the server's fragments into their places as they change.

   A fragment is an element with data-live; the page says which it has (data-parts) and up to which
   change it has them (data-seen). What a reader does stays: how a table is sorted, where it is scrolled
   to, what has the focus. While the page is hidden, it requests nothing. */
(() => {
  "use strict";

  const { t, ready, sortable, translate, changed, up } = window.Arena;
  const { seen: first, parts, commitment } = document.body.dataset;
  const sign = document.getElementById("connection");
  const FIRST_WAIT = 1000;
  const LONGEST_WAIT = 2000;

  const STATES = {
    connecting: "live_connecting",
    connected: "live_connected",
    lost: "live_lost",
    paused: "live_paused",
    ended: "live_ended",
  };

  let source = null;
  let seen = first;
  let state = "connecting";
  let wait = FIRST_WAIT;
  let timer = null;
  let tenth = null;

  if (!sign || !parts) return;

  /* ------------------------------------------------------------- what a reader has done */

  const sorted = (table) => {
    const head = table.querySelector("th[aria-sort]");
    return head && { column: head.cellIndex, how: head.getAttribute("aria-sort") };
  };

  const sort = (table, how) => {
    sortable(table);
    if (!how) return;
    const button = table.tHead.rows[0].cells[how.column]?.querySelector("button");
    button?.click();
    if (how.how === "descending") button?.click();
  };

  /** Where an element is below another: what has the focus is found again by its place. */
  const path = (inner, outer) => {
    const steps = [];
    for (let each = inner; each !== outer; each = each.parentElement) {
      steps.unshift([...each.parentElement.children].indexOf(each));
    }
    return steps;
  };
  const follow = (outer, steps) =>
    steps.reduce((each, step) => each && each.children[step], outer);

  /** A row's own name, so that the focus follows a bot and not a place in the ranking. */
  const row = (element) => element.closest("tr")?.querySelector("th[scope=row]")?.textContent;

  const focused = (place) => {
    const element = document.activeElement;
    if (!element || element === place || !place.contains(element)) return null;
    const line = element.closest("tr");
    return {
      steps: path(element, place),
      name: row(element),
      within: line && path(element, line),
      href: element.getAttribute("href"),
    };
  };

  const focus = (place, how) => {
    if (!how) return;
    let found = null;
    if (how.name) {
      const line = [...place.querySelectorAll("tr")].find(
        (each) => each.querySelector("th[scope=row]")?.textContent === how.name,
      );
      found = line && follow(line, how.within);
    }
    found = found || follow(place, how.steps);
    found?.focus({ preventScroll: true });
  };

  /* ------------------------------------------------------------- fragments */

  const swap = (place, html) => {
    const table = place.querySelector("table[data-sortable]");
    const how = table && sorted(table);
    const where = focused(place);
    const box = place.querySelector(".scroll");
    const scrolled = box && [box.scrollLeft, box.scrollTop];
    const known = new Set([...place.querySelectorAll("tr[data-id]")].map((each) => each.dataset.id));
    place.innerHTML = html;
    const now = place.querySelector("table[data-sortable]");
    if (now) sort(now, how);
    for (const each of place.querySelectorAll("tr[data-id]")) {
      if (known.size && !known.has(each.dataset.id)) each.classList.add("fresh");
    }
    if (scrolled) place.querySelector(".scroll")?.scrollTo(...scrolled);
    focus(place, where);
  };

  const show = (fragments) => {
    for (const [name, html] of Object.entries(fragments)) {
      for (const place of document.querySelectorAll("[data-live]")) {
        if (place.dataset.live === name) swap(place, html);
      }
    }
    translate();
    milestone();
  };

  /** For who hears a page: each tenth of the event, and not each match. */
  const milestone = () => {
    const bar = document.querySelector("progress");
    if (!bar) return;
    const now = Math.floor((10 * bar.value) / bar.max);
    if (now !== tenth) {
      tenth = now;
      document.getElementById("milestone").textContent = t("live_of", {
        n: bar.value,
        of: bar.max,
      });
    }
  };

  /* ------------------------------------------------------------- the connection */

  const tell = (now) => {
    if (now) state = now;
    sign.textContent = t(STATES[state]);
    sign.hidden = false;
  };

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };

  /** A browser gives up when no server answers; this page tries again, since the event may still begin. */
  const later = () => {
    close();
    timer = setTimeout(open, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  };

  const open = () => {
    if (source || document.hidden || state === "ended") return;
    const asked = new URLSearchParams({ seen, parts });
    source = new EventSource(`${up}live?${asked}`);
    source.addEventListener("hello", (event) => {
      // Another event at the same address.
      if (event.data !== commitment) location.assign(up);
      wait = FIRST_WAIT;
      tell("connected");
    });
    source.addEventListener("message", (event) => {
      seen = event.lastEventId;
      show(JSON.parse(event.data));
    });
    source.addEventListener("end", (event) => {
      if (event.data === "over") {
        close();
        tell("ended");
      } else {
        // An event that is over but goes on being shown is between two servers.
        tell(event.data === "stopped" ? "paused" : "connecting");
        later();
      }
    });
    source.addEventListener("error", () => {
      if (state !== "paused") tell("lost");
      later();
    });
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else open();
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  changed(() => tell());
  ready.then(open);
})();
