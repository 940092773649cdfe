/**
 * Answers that are an address: derived again, on the branch of customers, and whose it was when it was issued. A cloud
 * that names an address of its own would otherwise be paid by the customer's customers. Decisions 6.
 */
import { networkOf } from '../../chains/registry.ts';
import { isId } from '../../protocol/ids.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { CHAINS, FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { firstFalse, type Ask, type Known } from './known.ts';

type AddressJson = ReplyOf<'getAddress'>;

/**
 * An address that was issued before. An origin `[…]` that this edge has no key for (a retired identity, a source in
 * another replica's keystore) says itself that no key of this edge is behind it; so does null, unless the address was
 * issued here.
 */
export async function falseAddress(row: AddressJson, { params }: Ask, known: Known): Promise<string | null> {
  const { id, chain, address, derivationPath, userRef, tag } = row;
  const wrong =
    firstFalse(['id', isId('adr', id) && (params['id'] === undefined || id === params['id'])]) ??
    falseDerivation(row, known) ??
    falseFacts(row, known);
  if (wrong !== null) return wrong;
  const misnamed = await known.issued.misnamed({ chain, address, addressId: id });
  if (misnamed !== null) return misnamed === 'id_of_another' ? 'id' : `id: ${misnamed}`;
  // Whatever origin the answer names: a liar writes that too.
  const holder = await known.issued.holderOf(chain, address);
  return holder === null
    ? null
    : firstFalse(
        ['derivationPath: issued_here', derivationPath !== null],
        ['userRef: issued_to_another', holder.userRef === userRef],
        ['tag: issued_to_another', holder.tag === tag],
      );
}

const ADOPTED = ['projectId', 'batchId', 'mode', 'spendable'] as const;

/** A new address: of this edge's own phrase, as it was asked for, and nobody else's. */
export async function falseNewAddress(row: AddressJson, { body }: Ask, known: Known): Promise<string | null> {
  const { id, chain, address, derivationPath, userRef, tag, label, status } = row;
  if (derivationPath === null) return 'derivationPath';
  const wrong =
    firstFalse(
      ['id', isId('adr', id)],
      ['chain', chain === body['chain']],
      ['derivationPath', derivationPath.startsWith('m/')],
      ['userRef', userRef === (body['userRef'] ?? null)],
      ['tag', tag === (body['tag'] ?? null)],
      ['label', label === (body['label'] ?? null)],
      ['status', status === 'active'],
      // Only of what a migration adopted.
      ...ADOPTED.map((field) => [field, row[field] === undefined] as const),
    ) ??
    falseDerivation(row, known) ??
    falseFacts(row, known);
  if (wrong !== null) return wrong;
  const problem = await known.issued.record({
    chain,
    address,
    addressId: id,
    userRef,
    tag,
    position: known.own.depositPosition(chain, derivationPath)!,
  });
  return problem === null ? null : `derivationPath: ${problem}`;
}

/** The path is one of customers, and the address is the one there; none where nobody has a key (adopted ones). */
export function falseDerivation(
  { chain, address, derivationPath }: Pick<AddressJson, 'chain' | 'address' | 'derivationPath'>,
  { own }: Pick<Known, 'own'>,
): string | null {
  if (derivationPath === null || own.isForeign(derivationPath)) return null;
  const isCustomers = derivationPath.startsWith('[') || own.depositPosition(chain, derivationPath) !== null;
  return firstFalse(
    ['derivationPath', isCustomers && own.addressAt(chain, derivationPath) !== null],
    ['address', own.addressAt(chain, derivationPath) === address],
  );
}

function falseFacts({ chain, environment, reserveDrops }: AddressJson, known: Known): string | null {
  const { firstDepositMin } = networkOf(chain);
  return firstFalse(
    ['environment', environment === known.environment],
    ['reserveDrops', reserveDrops === firstDepositMin?.toString()],
  );
}

/**
 * Gas tanks of the chains that this edge registers, by its own derivation: no cloud is asked for an address to be
 * filled.
 */
export function ownGasTanks({ own }: Pick<Known, 'own'>, chains: readonly Chain[]): ReplyOf<'listGasTanks'>['content'] {
  const families = new Set(chains.map((chain) => FAMILY_OF[chain]));
  return CHAINS.filter((chain) => families.has(FAMILY_OF[chain])).flatMap((chain) => {
    const path = own.paths(chain).gasTank,
      address = path === null ? null : own.addressAt(chain, path);
    return path === null || address === null ? [] : [{ chain, address, derivationPath: path }];
  });
}
