/** One text for one JSON value, however it was written down. */

/**
 * JSON without white space, the keys of every object in the order of their UTF-16 units (as RFC 8785 has it). Values
 * are what `JSON.parse` gives; objects may be nested as deeply as it takes them.
 */
export function canonicalJson(value: unknown): string {
  const parts: string[] = [];
  const left: Work[] = [{ value }];
  for (let work = left.pop(); work !== undefined; work = left.pop()) {
    if ('text' in work) parts.push(work.text);
    else if (Array.isArray(work.value))
      open(
        left,
        '[',
        ']',
        work.value.map((item) => ({ name: '', item: item as unknown })),
      );
    else if (typeof work.value === 'object' && work.value !== null) {
      const names = Object.keys(work.value).sort(),
        fields = new Map(Object.entries(work.value));
      open(
        left,
        '{',
        '}',
        names.map((name) => ({ name: `${JSON.stringify(name)}:`, item: fields.get(name) as unknown })),
      );
    } else parts.push(JSON.stringify(work.value));
  }
  return parts.join('');
}

type Work = { readonly value: unknown } | { readonly text: string };

/** Puts a container on the stack, its first member on top. */
function open(
  left: Work[],
  begin: string,
  end: string,
  members: readonly { readonly name: string; readonly item: unknown }[],
): void {
  left.push({ text: end });
  for (let at = members.length - 1; at >= 0; at -= 1) {
    const { name, item } = members[at]!;
    left.push({ value: item }, { text: `${at === 0 ? '' : ','}${name}` });
  }
  left.push({ text: begin });
}
