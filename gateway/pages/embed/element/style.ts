/** Constructed, so that a strict policy of the merchant's page needs to allow nothing for it. payments E7. */
export const STYLE = `
:host{display:block}
.pay{--ink:#14181f;--paper:#fff;--line:#8a93a0;--act:#1f4fd8;--bad:#a8201a;color:var(--ink);background:var(--paper);
border:1px solid var(--line);border-radius:12px;padding:16px;font:16px/1.5 system-ui,sans-serif;max-width:26rem;
box-sizing:border-box;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){.pay:not(.light){--ink:#eef1f5;--paper:#181e26;--line:#6b7685;--act:#9db8ff;--bad:#ff9d94}}
.pay.dark{--ink:#eef1f5;--paper:#181e26;--line:#6b7685;--act:#9db8ff;--bad:#ff9d94}
p{margin:0 0 12px}.title,.state{font-weight:600}.amount{font-size:1.5rem;font-weight:700}
.alert{color:var(--bad);font-weight:600}.small{font-size:.875rem}
.address bdi{display:flex;flex-wrap:wrap;gap:0 .5em;font-family:ui-monospace,monospace}
.qr{display:block;width:240px;max-width:100%;margin:0 0 12px;shape-rendering:crispEdges}
.buttons{display:flex;flex-wrap:wrap;gap:8px}label{display:block;margin:0 0 12px}
input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:8px;color:inherit;background:transparent;
border:1px solid var(--line);border-radius:8px}
button,a{font:inherit;min-height:24px;padding:8px 12px;border:1px solid var(--act);border-radius:8px;color:var(--act);
background:transparent;text-decoration:none;cursor:pointer}
:focus-visible{outline:3px solid var(--act);outline-offset:2px}
`;
