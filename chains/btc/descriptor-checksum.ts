/**
 * The checksum of an output descriptor: eight characters after `#`, a BCH code over the descriptor's own alphabet.
 * Every character counts as its place in the alphabet: the low five bits one by one, the high bits three at a time.
 * Source: BIP-380, "Checksum".
 */
const INPUT =
  "0123456789()[],'/*abcdefgh@:$%{}" + 'IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~' + 'ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const OUTPUT = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** Each in two halves of 20 bits, which operators on 32 bits hold: a long line of a file has to be cheap. */
const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn].map(
  (generator) => [Number(generator >> 20n), Number(generator & 0xf_ffffn)] as const,
);
export const CHECKSUM_CHARACTERS = 8;
const PLACE_OF: ReadonlyMap<string, number> = new Map([...INPUT].map((character, place) => [character, place]));

/** The state of the code: 40 bits, five of which each symbol replaces. */
interface State {
  high: number;
  low: number;
}

function step(state: State, symbol: number): void {
  const top = state.high >>> 15;
  let high = ((state.high & 0x7fff) << 5) | (state.low >>> 15),
    low = ((state.low & 0x7fff) << 5) ^ symbol;
  for (const [bit, [ofHigh, ofLow]] of GENERATOR.entries()) {
    if (((top >> bit) & 1) === 0) continue;
    high ^= ofHigh;
    low ^= ofLow;
  }
  state.high = high;
  state.low = low;
}

/** The eight characters that belong after `#`, or null when a character is outside the alphabet of descriptors. */
export function descriptorChecksum(descriptor: string): string | null {
  const state: State = { high: 0, low: 1 };
  let group = 0;
  let grouped = 0;
  for (const character of descriptor) {
    const place = PLACE_OF.get(character);
    if (place === undefined) return null;
    step(state, place & 31);
    group = group * 3 + (place >> 5);
    grouped += 1;
    if (grouped === 3) {
      step(state, group);
      group = grouped = 0;
    }
  }
  if (grouped > 0) step(state, group);
  for (let symbol = 0; symbol < CHECKSUM_CHARACTERS; symbol += 1) step(state, 0);
  const { high, low } = state,
    last = low ^ 1;
  return Array.from({ length: CHECKSUM_CHARACTERS }, (_, index) => {
    const half = index < 4 ? high : last;
    return OUTPUT[(half >>> (5 * (3 - (index % 4)))) & 31]!;
  }).join('');
}
