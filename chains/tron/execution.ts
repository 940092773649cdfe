/**
 * Whether a TRON transaction did what it says. Four signs say so, and all must agree (chains.md T4):
 *
 *   ret[0].contractRet   SUCCESS, or the failure; absent only for contracts older than the virtual machine
 *   receipt.result       SUCCESS, or the failure; only contract calls have one
 *   ret[0].ret           FAILED; absent or SUCESS otherwise, also beside a contract that failed
 *   result               FAILED; absent otherwise (the default of its enumeration, which is spelt SUCESS)
 *
 * A word that is not known is no success. Signs that contradict each other prove nothing.
 */

export type Execution =
  | { readonly kind: 'success' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * Contracts that run code; all others either are in a block and happened, or are not in it. Source: java-tron
 * Tron.proto.
 */
const RUNS_CODE = new Set(['TriggerSmartContract', 'CreateSmartContract']);

type Sign = 'ok' | 'failed' | 'none';

export interface ExecutionSigns {
  readonly type: string;
  readonly contractRet: unknown;
  readonly ret: unknown;
  readonly receiptResult: unknown;
  readonly result: unknown;
}

/** The verdict of the four signs. Spec: chains.md T1, T2, T4. */
export function executionOf({ type, contractRet, ret, receiptResult, result }: ExecutionSigns): Execution {
  const runsCode = RUNS_CODE.has(type);
  const called = signOf(contractRet, runsCode ? 'none' : 'ok');
  const receipt = signOf(receiptResult, 'none');
  const final: Sign = isDefault(result) ? 'ok' : 'failed',
    whole: Sign = isDefault(ret) ? 'none' : 'failed';
  const signsText = `contractRet ${word(contractRet)}, ret ${word(ret)}, receipt ${word(receiptResult)}, result ${word(result)}`;
  const receiptAgrees = receipt === 'ok' || (receipt === 'none' && !runsCode);
  if (called === 'ok' && receiptAgrees && final === 'ok' && whole !== 'failed') return { kind: 'success' };
  const signs = [called, receipt, final, whole];
  // One failure may be alone only where the others say nothing.
  const failures = signs.filter((sign) => sign === 'failed').length;
  if (failures >= 2 && !signs.includes('ok')) return { kind: 'failed', reason: `failed: ${signsText}` };
  return { kind: 'unknown', reason: signsText };
}

/** The default of an enumeration, which proto3 leaves out; its name is misspelt in the protocol. */
const isDefault = (value: unknown): boolean => value === undefined || value === 'SUCESS' || value === 'SUCCESS';

function signOf(value: unknown, absent: Sign): Sign {
  if (value === undefined || value === 'DEFAULT') return absent;
  return value === 'SUCCESS' ? 'ok' : 'failed';
}

function word(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 40) : value === undefined ? 'absent' : typeof value;
}
