/** Readers of `test/vectors/`: as text (for the lossless parser) or plain. */
import { readFileSync } from 'node:fs';
import { parseLossless } from '../../protocol/lossless-json.ts';

/** Text of a vector file, path below `test/vectors/`. */
export function vectorText(path: string): string {
  return readFileSync(new URL(`../vectors/${path}`, import.meta.url), 'utf8');
}

/** A vector file parsed plainly; for files that hold no amounts as numbers. */
export function vector<T>(path: string): T {
  return JSON.parse(vectorText(path)) as T;
}

/** A recorded node answer as the service reads it: JSON-RPC envelope removed, numbers kept as text. */
export function answer(path: string): unknown {
  const parsed = parseLossless(vectorText(path));
  const isEnvelope = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) && 'result' in parsed;
  return isEnvelope ? (parsed as { result: unknown }).result : parsed;
}

export interface ExpectedCredit {
  readonly txid: string;
  readonly address?: string;
  readonly outputIndex?: number;
  readonly accountIndex?: number;
  readonly logIndexInTransaction?: number;
  readonly operationId?: string;
  readonly amount?: string | null;
  readonly decimals?: number;
  readonly tokenContract?: string | null;
  readonly kind?: string;
  readonly type?: string;
  readonly symbol?: string;
  readonly tag?: number | null;
  readonly coinbase?: boolean;
  readonly createsAccount?: boolean;
  readonly why?: string;
}

export interface ExpectedCase {
  readonly case: string;
  readonly chain: string;
  readonly network?: string;
  readonly files: readonly string[];
  readonly credits?: readonly ExpectedCredit[];
  readonly mustNotCredit?: readonly ExpectedCredit[];
  readonly policy?: readonly ExpectedCredit[];
  readonly balances?: readonly Record<string, unknown>[];
}

/** The expected results of one chain's recorded answers. */
export function expectedCases(chain: string): readonly ExpectedCase[] {
  return vector<{ cases: ExpectedCase[] }>('nodes/expected.json').cases.filter((entry) => entry.chain === chain);
}

export interface SampleToken {
  readonly chain: string;
  readonly contract: string;
  readonly symbol: string;
  readonly decimals: number;
}

/** The token list that the expected results use. */
export function sampleTokens(chain: string): readonly SampleToken[] {
  return vector<{ tokens: SampleToken[] }>('tokens/sample-catalogue.json').tokens.filter(
    (token) => token.chain === chain,
  );
}
