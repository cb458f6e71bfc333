/* Files of data, which a page loads as scripts: a page opened from a folder may load nothing else.

   Arena.load("e/0123/m/s4")   a promise of what that file holds */
(() => {
  "use strict";

  const held = new Map();
  const asked = new Map();

  window.arenaData = (name, packed) => held.set(name, packed);

  const inflated = async (packed) => {
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  window.Arena.load = (name) => {
    if (!asked.has(name)) {
      asked.set(
        name,
        window.Arena.script(`${name}.js`).then(() => {
          const packed = held.get(name);
          held.delete(name);
          return inflated(packed);
        }),
      );
    }
    return asked.get(name);
  };

  /** The address's own words behind #, and setting them without a new page. */
  window.Arena.wanted = () => new URLSearchParams(location.hash.slice(1));
  window.Arena.want = (values) => {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
      if (value !== null && value !== undefined && value !== "") words.set(name, value);
    }
    history.replaceState(null, "", `#${words}`);
  };
})();
