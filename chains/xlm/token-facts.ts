/**
 * What the ledger says of an issued asset: there is nothing to ask but whether its issuer is there. Every asset has
 * seven decimals, and its name is its code. K4.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { TokenFacts } from '../chain.ts';
import { readAccounts } from './account-reader.ts';
import { contractOf } from './asset-events.ts';
import type { Heads } from './heads.ts';
import { STELLAR_DECIMALS } from './network.ts';
import type { Source } from './sources.ts';
import { encodeStrkey } from './strkey.ts';

/** Facts of `CODE:ISSUER`. Refuses: TOKEN_NOT_SUPPORTED without its issuer. Throws: ChainUnavailable. */
export async function readTokenFacts(
  heads: Heads,
  source: Source,
  passphrase: string,
  contract: string,
): Promise<TokenFacts | Refusal> {
  const [code, issuer] = contract.split(':') as [string, string];
  const { accounts } = await readAccounts(heads, source, [issuer], null);
  if (accounts[issuer] == null)
    return refuse('TOKEN_NOT_SUPPORTED', { chain: 'xlm', reason: 'the issuer does not exist' });
  const sac = encodeStrkey('contract', Buffer.from(contractOf(passphrase, contract), 'hex'));
  return { symbol: code, name: code, decimals: STELLAR_DECIMALS, sac };
}
