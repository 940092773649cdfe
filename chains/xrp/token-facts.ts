/**
 * What the ledger says of a token: that its issuer is there. It fixes no unit, so every token counts alike (R11). K4.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Endpoint, TokenFacts, Transport } from '../chain.ts';
import { readAccount } from './account-reader.ts';
import { assetOf } from './currency.ts';
import type { Heads } from './heads.ts';
import { ISSUED_DECIMALS } from './network.ts';

const HEX_CODE = /^[0-9A-F]{40}$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

/**
 * The currency's own letters as symbol (its hex digits where it has none), no name, 15 decimals. Refuses:
 * TOKEN_NOT_SUPPORTED without an issuer. Throws: ChainUnavailable.
 */
export async function readTokenFacts(
  transport: Transport,
  heads: Heads,
  endpoint: Endpoint,
  contract: string,
): Promise<TokenFacts | Refusal> {
  const { currency, issuer } = assetOf(contract);
  await heads.feesOf(endpoint);
  if ((await readAccount(transport, endpoint, issuer)) === null) {
    const reason = 'the ledger has no such issuer';
    return refuse('TOKEN_NOT_SUPPORTED', { chain: 'xrp', tokenContract: contract, reason });
  }
  return { symbol: symbolOf(currency), name: '', decimals: ISSUED_DECIMALS };
}

function symbolOf(currency: string): string {
  if (!HEX_CODE.test(currency)) return currency;
  const letters = Buffer.from(currency, 'hex').toString('latin1').replace(/\0+$/, '');
  return PRINTABLE.test(letters) ? letters : currency;
}
