/** Bounds of an import file. Its size is bounded where it is uploaded. */

export const LINE_BYTES_MAX = 32_768;
export const COLUMNS_MAX = 64;
export const FIELD_CHARACTERS_MAX = 4_096;
/** Addresses of a file whose count is not the plan's to bound. */
export const ROWS_MAX = 1_000_000;
export const SANDBOX_ROWS_MAX = 100_000;
/** Addresses of a range that names no end. */
export const DEFAULT_RANGE = { first: 0, last: 999 } as const;
