/** QR codes as one path of an inline SVG: dark on white with four modules of margin in every theme. payments H4. */
import { encode } from 'uqr';

const MARGIN = 4;
/** Beyond version 5 a code is hard to read from a screen. BlueWallet#235, eclair-mobile#267. */
export const QR_VERSION_MAX = 5;

export interface Qr {
  /** Modules of a side, margin included. */
  readonly size: number;
  readonly path: string;
  readonly version: number;
}

/** Level M. A bech32 text in capitals takes the smaller alphabet of QR codes (BIP-173). */
export function qrOf(text: string): Qr {
  const { data, size, version } = encode(text, { ecc: 'M', border: MARGIN });
  const path = data.flatMap((row, y) =>
    row.flatMap((dark, x) =>
      dark && !(row[x - 1] ?? false) ? [`M${x} ${y}h${runOf(row, x)}v1h-${runOf(row, x)}z`] : [],
    ),
  );
  return { size, path: path.join(''), version };
}

function runOf(row: readonly boolean[], from: number): number {
  let run = 0;
  while (row[from + run] === true) run += 1;
  return run;
}
