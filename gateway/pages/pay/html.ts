/** Markup from text: what merchants, payers and chains wrote is escaped, and shows nothing that turns it around. */

/** Bidirectional controls and zero-width spaces; joiners stay, since scripts need them. payments H13. */
const UNSEEN = /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u061c\ufeff]/g;

/** Text as it is shown. */
export const shown = (text: string): string => text.replace(UNSEEN, '');

export const escaped = (text: unknown): string =>
  shown(String(text)).replace(/[&<>"'`]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** `name="value"`, or nothing where the value is null. */
export const attribute = (name: string, value: string | number | null): string =>
  value === null ? '' : ` ${name}="${escaped(value)}"`;

/** An address whole, in groups of four, first and last emphasised; copied without spaces. payments H3. */
export function addressMarkup(address: string): string {
  const groups = address.match(/.{1,4}/gu) ?? [];
  return `<bdi dir="ltr" class="address">${groups
    .map((group, at) => {
      const tag = at === 0 || at === groups.length - 1 ? 'b' : 'span';
      return `<${tag}>${escaped(group)}</${tag}>`;
    })
    .join('')}</bdi>`;
}
