/** Everything that a build needs, asked of one server so that the figures belong together. M19, M21 to M26. */
import type { Intent } from '../chain.ts';
import { readAccounts } from './account-reader.ts';
import { readMarketFee } from './fee-market.ts';
import type { XlmInputs } from './inputs.ts';
import type { LedgerReader } from './ledger-reader.ts';
import type { Source } from './sources.ts';

/** Inputs of an intent from one server. Throws: ChainUnavailable, MalformedReply. */
export async function readBuildInputs(ledgers: LedgerReader, source: Source, intent: Intent): Promise<XlmInputs> {
  const { from, to, token, feePayer = from } = intent;
  const issuer = token === null ? null : token.contract.split(':')[1]!;
  const addresses = [from, to, feePayer, ...(issuer === null ? [] : [issuer])];
  const { height, accounts } = await readAccounts(ledgers.heads, source, addresses, token);
  const header = await ledgers.recentHeader(source, height);
  const marketFee = await readMarketFee(source, header.baseFee);
  return {
    readAtHeight: height,
    closeTime: header.closeTime,
    baseFee: String(header.baseFee),
    marketFee: marketFee.toString(),
    baseReserve: String(header.baseReserve),
    sender: accounts[from] ?? null,
    destination: accounts[to] ?? null,
    issuer: issuer === null ? null : (accounts[issuer] ?? null),
    feePayer,
    payer: accounts[feePayer] ?? null,
  };
}
