/** An operation as `flock api` knows it; the list is generated. */

export interface CliField {
  /** As it travels. */
  readonly name: string;
  /** `user-ref` of `userRef`. */
  readonly flag: string;
  /** What the option's text becomes. `json`: it is JSON itself; `texts`: the option may be given several times. */
  readonly kind: 'text' | 'texts' | 'integer' | 'number' | 'boolean' | 'json';
  /** The only ones that it may have. */
  readonly values?: readonly (string | number | boolean)[];
  readonly isNullable?: true;
  readonly isInPath?: true;
  readonly isOptional?: true;
}

export interface CliOperation {
  readonly summary: string;
  readonly where: 'both' | 'cloud' | 'edge';
  readonly credential: 'none' | 'application' | 'bearer';
  /** It takes an `Idempotency-Key`. */
  readonly isKeyed?: true;
  readonly isList?: true;
  readonly hasBody?: true;
  readonly fields: readonly CliField[];
}
