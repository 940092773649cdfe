/** Style of the description page. */
export const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; border-right: 1px solid var(--line); }
nav h1 { margin: 0; font-size: 1.3rem; }
nav ul { list-style: none; padding: 0; }
nav li { margin: .3rem 0; }
main { padding: 1.5rem 2rem 6rem; max-width: 70rem; }
h2 { margin: 2.5rem 0 .8rem; font-size: 1.2rem; }
h4 { margin: 1rem 0 .3rem; }
a { color: inherit; }
.lead { max-width: 46rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { padding: 1rem; overflow: auto; background: var(--soft); border-radius: 6px; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: 0 .8rem; overflow-x: auto; }
details[open] { padding-bottom: .8rem; }
summary { cursor: pointer; padding: .5rem 0; overflow-wrap: anywhere; }
summary:hover { color: #2368c4; }
:target { outline: 2px solid #2368c4; outline-offset: 2px; }
summary > span:last-child { opacity: .75; margin-left: .6rem; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; font-size: 12px; }
.method.get { color: #2368c4; } .method.post { color: #1d7f4c; } .method.put, .method.patch { color: #a86408; } .method.delete { color: #b3322c; }
table { border-collapse: collapse; width: 100%; margin: .3rem 0; }
td { border-top: 1px solid var(--line); padding: .35rem .6rem .35rem 0; vertical-align: top; }
td table { margin-top: .3rem; }
small { opacity: .7; }
@media (prefers-color-scheme: dark) { .method.get, summary:hover { color: #7fb2ff; } .method.post { color: #5fce93; } .method.put, .method.patch { color: #e0a94f; } .method.delete { color: #f08a83; } }
@media (max-width: 50rem) { body { grid-template-columns: minmax(0, 1fr); } nav ul { columns: 2; } nav { position: static; height: auto; border: 0; } main { padding: 1rem; } }
`;
