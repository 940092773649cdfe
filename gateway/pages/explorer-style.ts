/** Style of the sandbox explorer. */
export const EXPLORER_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 16%, transparent); --soft: color-mix(in srgb, currentColor 5%, transparent); --good: #1d7f4c; --wait: #a86408; --bad: #b3322c; }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; }
header { padding: .9rem 1.5rem; border-bottom: 1px solid var(--line); }
.notice { margin: 0; padding: .5rem 1.5rem; background: var(--soft); border-bottom: 1px solid var(--line); font-size: 13px; }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.4rem; margin: .5rem 0 1.2rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
.chain { display: inline-block; padding: .05rem .6rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .85rem; vertical-align: middle; }
dl { display: grid; grid-template-columns: 9rem minmax(0, 1fr); margin: 0; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
dt, dd { margin: 0; padding: .6rem 1rem; border-top: 1px solid var(--line); }
dt:first-of-type, dd:first-of-type { border-top: 0; }
dt { opacity: .7; background: var(--soft); }
code { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
.status { font-weight: 600; }
.confirmed { color: var(--good); } .pending { color: var(--wait); } .failed { color: var(--bad); }
progress { width: 10rem; max-width: 40%; vertical-align: middle; accent-color: var(--good); }
table { border-collapse: collapse; width: 100%; border: 1px solid var(--line); }
th { text-align: left; font-weight: 600; background: var(--soft); }
td, th { padding: .5rem 1rem; border-top: 1px solid var(--line); vertical-align: top; }
.amount { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) { :root { --good: #5fce93; --wait: #e0a94f; --bad: #f08a83; } }
@media (max-width: 40rem) {
  main { padding: 1rem; }
  dl { grid-template-columns: minmax(0, 1fr); } dt { padding-bottom: .1rem; } dd { border-top: 0; padding-top: .1rem; }
  table, tbody, tr, td { display: block; } thead { display: none; } td { border: 0; padding: .2rem 1rem; } tr { border-top: 1px solid var(--line); padding: .4rem 0; } .amount { text-align: left; }
}
`;
