/**
 * Treasury wallets: a derived one is at the treasury path of this edge, an external one is what its caller wrote. W1.
 */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { isId } from '../../protocol/ids.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, isCanonical, type Ask, type Known } from './known.ts';

type WalletJson = ReplyOf<'createTreasuryWallet'>;

/** The address of a derived wallet is this edge's own; that of an external one is in its canonical text. */
export function falseWallet({ id, chain, source, address, derivationPath }: WalletJson, known: Known): string | null {
  if (!isId('wal', id)) return 'id';
  if (source === 'external')
    return firstFalse(
      ['address', address !== null && isCanonical(chain, address)],
      ['derivationPath', derivationPath === null],
    );
  const { treasury } = known.own.paths(chain);
  if (address === null) return firstFalse(['derivationPath', derivationPath === null]);
  return firstFalse(
    ['derivationPath', treasury !== null && derivationPath === treasury],
    ['address', treasury !== null && known.own.addressAt(chain, treasury) === address],
  );
}

/** The same, and what its caller asked for. */
export function falseNewWallet(row: WalletJson, { body }: Ask, known: Known): string | null {
  const wrong =
    firstFalse(
      ['chain', row.chain === body['chain']],
      ['source', row.source === body['source']],
      ['label', row.label === (body['label'] ?? null)],
    ) ?? falseWallet(row, known);
  if (wrong !== null) return wrong;
  const asked = body['address'];
  const parsed = typeof asked === 'string' ? factsOf(row.chain).parseAddress(networkOf(row.chain), asked) : null;
  if (parsed === null)
    return firstFalse(['address', row.source === 'derived' && row.address !== null], ['tag', row.tag === null]);
  return isRefusal(parsed)
    ? 'address'
    : firstFalse(['address', row.address === parsed.canonical], ['tag', row.tag === parsed.tag]);
}

/** A funding wallet is the gas tank of this edge, and nobody else's: who fills another one fills a thief's. */
export function falseTank(
  {
    id,
    chain,
    address,
    derivationPath,
  }: Pick<ReplyOf<'createFundingWallet'>, 'id' | 'chain' | 'address' | 'derivationPath'>,
  known: Known,
): string | null {
  const { gasTank } = known.own.paths(chain);
  if (address === null) return firstFalse(['id', isId('fwl', id)], ['derivationPath', derivationPath === null]);
  return firstFalse(
    ['id', isId('fwl', id)],
    ['derivationPath', gasTank !== null && derivationPath === gasTank],
    ['address', gasTank !== null && known.own.addressAt(chain, gasTank) === address],
  );
}
