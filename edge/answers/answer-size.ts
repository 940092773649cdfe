/**
 * How many bytes an answer of the cloud may have: what its route can honestly say, and no more, so that reading it is
 * short work. The rest is not read, and nothing of it is parsed. found F14.
 */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../protocol/page.ts';
import type { OperationId } from '../../protocol/routes.ts';

const KIB = 1_024;
/** One record, a refusal, a webhook with its longest URL. */
const RECORD_BYTES = 64 * KIB;
/** A build: the payload of the largest one that replicas share has 900,000 characters. */
const BUILD_BYTES = 2_048 * KIB;
/**
 * What two hundred rows have in practice is a fifth of it; pages of the longest texts in every row need a smaller size.
 */
const PAGE_BYTES_MAX = 1_024 * KIB;
/** Around the rows: envelope, cursor, counts. */
const PAGE_BYTES = 8 * KIB;

/** A row with the longest texts that its fields take, six bytes a character where JSON escapes them. */
const ROW_BYTES: Partial<Record<OperationId, number>> = {
  listAddresses: 6 * KIB,
  listBalances: 4 * KIB,
  listTransactions: 12 * KIB,
  listWebhooks: 16 * KIB,
  listPaymentLinks: 32 * KIB,
  listPayments: 32 * KIB,
  listLinkPayments: 32 * KIB,
  listLinkInvoices: 32 * KIB,
  listInvoices: 32 * KIB,
  listDeliveries: 32 * KIB,
  listDeadLetters: 32 * KIB,
  listWebhookDeliveries: 32 * KIB,
  listSweepJobs: 4 * KIB,
  listBridgeTransfers: 4 * KIB,
  listScanAddresses: 4 * KIB,
};
/**
 * Short lists that are answered whole: ten chains; a thousand sessions; the catalogue; sources with their addresses.
 */
const WHOLE_BYTES: Partial<Record<OperationId, number>> = {
  listChains: 128 * KIB,
  getPaymentReadiness: 256 * KIB,
  getEdgeReadiness: 128 * KIB,
  listEdgeSessions: 1_024 * KIB,
  listTokens: 1_024 * KIB,
  listTreasuryWallets: 256 * KIB,
  getTreasuryWalletBalances: 256 * KIB,
  listFundingWallets: 256 * KIB,
  listSweepPolicies: 1_024 * KIB,
  listBridgePolicies: 512 * KIB,
  getSweepJob: 1_024 * KIB,
  previewSweep: 1_024 * KIB,
  listKeySources: 1_024 * KIB,
  listMigrationProjects: 256 * KIB,
  listTokenRequests: 1_024 * KIB,
  listTokenRoutes: 256 * KIB,
  listImports: 512 * KIB,
  listImportIssues: 512 * KIB,
  validateImport: 256 * KIB,
  getDryRun: 256 * KIB,
  simulateActivity: 2_048 * KIB,
};
const BUILDS: ReadonlySet<OperationId> = new Set(['buildTransaction', 'repriceTransaction', 'createTrustline']);

/** Bytes of the whole body, envelope included. `query` is the caller's. */
export function answerBytesMax(operation: OperationId, query: Readonly<Record<string, unknown>>): number {
  if (BUILDS.has(operation)) return BUILD_BYTES;
  const whole = WHOLE_BYTES[operation],
    row = ROW_BYTES[operation];
  if (whole !== undefined) return whole;
  if (row === undefined) return RECORD_BYTES;
  const size = Number(query['size'] ?? PAGE_SIZE_DEFAULT);
  // A size that is none gets the cloud's refusal, which is short.
  const rows = Number.isInteger(size) && size >= 1 ? Math.min(size, PAGE_SIZE_MAX) : 1;
  return Math.max(RECORD_BYTES, Math.min(PAGE_BYTES_MAX, PAGE_BYTES + rows * row));
}

/** Values of an answer, ten times what the longest honest one has, and how deep they may be. */
const VALUES_MAX = 50_000;
const DEPTH_MAX = 32;
const QUOTE = 0x22,
  BACKSLASH = 0x5c,
  COMMA = 0x2c;
const OPENS = [0x5b, 0x7b],
  CLOSES = [0x5d, 0x7d];

/**
 * Whether an answer is short work to parse. Bytes alone do not say: a megabyte of brackets takes a parser thirty times
 * as long as one of addresses, and holds the loop meanwhile. Measured on a loaded machine: 300 ms, against 12.
 */
export function isShortWork(body: Uint8Array): boolean {
  let isText = false,
    values = 0,
    depth = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at]!;
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COMMA) values += 1;
    else if (byte === OPENS[0] || byte === OPENS[1]) {
      values += 1;
      depth += 1;
    } else if (byte === CLOSES[0] || byte === CLOSES[1]) depth -= 1;
    if (values > VALUES_MAX || depth > DEPTH_MAX) return false;
  }
  return true;
}
