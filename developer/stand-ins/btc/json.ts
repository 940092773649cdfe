/** JSON as Bitcoin Core writes it: amounts as numbers with eight decimals. */

/** An amount in satoshi that is written in bitcoin. */
export class Amount {
  readonly sats: bigint;
  constructor(sats: bigint) {
    this.sats = sats;
  }

  get text(): string {
    const digits = (this.sats < 0n ? -this.sats : this.sats).toString().padStart(9, '0');
    return `${this.sats < 0n ? '-' : ''}${digits.slice(0, -8)}.${digits.slice(-8)}`;
  }
}

export function toJson(value: unknown): string {
  if (value instanceof Amount) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toJson(field)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}
