/**
 * The checksum of an output descriptor: eight characters after `#`, a BCH code over the descriptor's own alphabet.
 * Every character counts as its place in the alphabet: the low five bits one by one, the high bits three at a time.
 * Source: BIP-380, "Checksum".
 */
const INPUT =
  "0123456789()[],'/*abcdefgh@:$%{}" + 'IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~' + 'ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const OUTPUT = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];
export const CHECKSUM_CHARACTERS = 8;

/** One step of the code: the state has 40 bits, five of which the symbol replaces. */
function step(state: bigint, symbol: number): bigint {
  const top = state >> 35n;
  let next = ((state & 0x7_ffff_ffffn) << 5n) ^ BigInt(symbol);
  GENERATOR.forEach((generator, bit) => {
    if (((top >> BigInt(bit)) & 1n) === 1n) next ^= generator;
  });
  return next;
}

/** The eight characters that belong after `#`, or null when a character is outside the alphabet of descriptors. */
export function descriptorChecksum(descriptor: string): string | null {
  let state = 1n;
  let group = 0;
  let grouped = 0;
  for (const character of descriptor) {
    const position = INPUT.indexOf(character);
    if (position === -1) return null;
    state = step(state, position & 31);
    group = group * 3 + (position >> 5);
    grouped += 1;
    if (grouped === 3) {
      state = step(state, group);
      group = grouped = 0;
    }
  }
  if (grouped > 0) state = step(state, group);
  for (let symbol = 0; symbol < CHECKSUM_CHARACTERS; symbol += 1) state = step(state, 0);
  state ^= 1n;
  return Array.from(
    { length: CHECKSUM_CHARACTERS },
    (_, index) => OUTPUT[Number((state >> BigInt(5 * (CHECKSUM_CHARACTERS - 1 - index))) & 31n)]!,
  ).join('');
}
