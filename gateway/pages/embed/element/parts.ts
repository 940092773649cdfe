/** Pieces of the element's document: made node by node, so that no text is ever markup. payments E7, T7. */
import { qrOf } from '../../pay/qr.ts';

const SVG = 'http://www.w3.org/2000/svg';

/** Without characters that turn text around or hide in it. payments H13. */
export const shown = (text: string): string =>
  text.replace(/[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u061c\ufeff]/g, '');

export function element(
  tag: string,
  attributes: Readonly<Record<string, string>>,
  children: readonly (Node | string)[] = [],
): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** What opens a wallet, only where it is of this very address and carries nothing but an amount. payments H4. */
export function walletLink({ uri, address }: { readonly uri: string | null; readonly address: string }): string | null {
  if (uri === null) return null;
  const [, of, rest] = /^(?:bitcoin|ethereum):([0-9A-Za-z]+)(.*)$/.exec(uri) ?? [];
  return of === address && /^(?:@[0-9]+)?(?:\?(?:amount=[0-9]+(?:\.[0-9]+)?|value=[0-9]+))?$/.test(rest!) ? uri : null;
}

/** Capitals make the code of a bech32 address smaller. payments H4. */
function codeText(text: string): string {
  const [, address, rest] = /^bitcoin:(bc1[a-z0-9]+)(.*)$/.exec(text) ?? [];
  return address === undefined ? text : `BITCOIN:${address.toUpperCase()}${rest}`;
}

/** Dark on white in every theme. */
export function codeOf(text: string, label: string): Node {
  const { size, path } = qrOf(codeText(text));
  const make = (tag: string, attributes: Record<string, string>): SVGElement => {
    const made = document.createElementNS(SVG, tag) as SVGElement;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const code = make('svg', { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label });
  code.append(make('rect', { width: '100%', height: '100%', fill: '#fff' }), make('path', { d: path, fill: '#000' }));
  return code;
}
