/** What a mint says of itself. L11; start-up check K4. */
import { base58 } from '@scure/base';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { ChainUnavailable, type TokenFacts } from '../chain.ts';
import { accountIn, tokenStateOf, type Mint } from './account.ts';
import type { Heads } from './heads.ts';
import { ask, call, contextual, CONFIRMED, type Node } from './node.ts';
import { programAddress } from './program-address.ts';
import { METADATA_PROGRAM, TOKEN_2022_PROGRAM } from './programs.ts';

/** Kinds of mint extensions. Source: solana-program/token-2022 `interface/src/extension/mod.rs`. */
const DEFAULT_ACCOUNT_STATE = 6;
const NON_TRANSFERABLE = 9;
const TOKEN_METADATA = 19;
const STATE_FROZEN = 2;
/** update authority(32) || mint(32) come before the name in both forms of metadata; Metaplex puts a kind(1) first. */
const EXTENSION_NAME_AT = 64;
const METAPLEX_NAME_AT = 65;
/** Metaplex allows 32 bytes of name and 10 of symbol; more is no name. */
const TEXT_BYTES_MAX = 200;

/**
 * Symbol and name (empty where the mint has none), decimals. Refuses: TOKEN_NOT_SUPPORTED for what is no mint, and for
 * a mint whose tokens could not be forwarded. Throws: ChainUnavailable.
 */
export async function readTokenFacts(node: Node, heads: Heads, contract: string): Promise<TokenFacts | Refusal> {
  const no = (reason: string) =>
    refuse('TOKEN_NOT_SUPPORTED', { chain: node.network.slug, tokenContract: contract, reason });
  const metadata = programAddress(METADATA_PROGRAM, [
    Buffer.from('metadata'),
    base58.decode(METADATA_PROGRAM),
    base58.decode(contract),
  ]);
  const asked = call('getMultipleAccounts', [contract, metadata], { ...CONFIRMED, encoding: 'base64' });
  const { slot, value } = contextual(await ask(node, asked), 'mint');
  heads.accept(node.endpoint, slot);
  if (!Array.isArray(value) || value.length !== 2) {
    throw new ChainUnavailable(node.network.slug, 'two accounts were asked for');
  }
  const [account, metaplex] = value.map((one: unknown) => accountIn(one, 'mint'));
  const state = account === null || account === undefined ? null : tokenStateOf(account);
  if (state?.kind !== 'mint') return no('the account is no mint');
  const refusal = refusalOf(state);
  if (refusal !== null) return no(refusal);
  const own = state.extensions.get(TOKEN_METADATA);
  const texts =
    own !== undefined
      ? textsAt(own, EXTENSION_NAME_AT)
      : metaplex === null || metaplex === undefined || metaplex.owner !== METADATA_PROGRAM
        ? ['', '']
        : textsAt(metaplex.data, METAPLEX_NAME_AT);
  const tokenProgram = state.program === TOKEN_2022_PROGRAM ? 'token-2022' : 'token';
  return { name: texts[0]!, symbol: texts[1]!, decimals: state.decimals, tokenProgram };
}

/** L11: what is credited must be able to leave again. */
function refusalOf({ extensions }: Mint): string | null {
  if (extensions.has(NON_TRANSFERABLE)) return 'the tokens cannot be transferred';
  return extensions.get(DEFAULT_ACCOUNT_STATE)?.[0] === STATE_FROZEN ? 'new accounts of the mint are frozen' : null;
}

/** Name and symbol: length(4) || text each, padded with zeros by Metaplex. */
function textsAt(data: Uint8Array, from: number): readonly string[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const texts: string[] = [];
  for (let at = from; texts.length < 2 && at + 4 <= data.length;) {
    const length = view.getUint32(at, true);
    if (length > TEXT_BYTES_MAX || at + 4 + length > data.length) break;
    texts.push(
      Buffer.from(data.subarray(at + 4, at + 4 + length))
        .toString('utf8')
        .replace(/\0+$/, ''),
    );
    at += 4 + length;
  }
  return [texts[0] ?? '', texts[1] ?? ''];
}
