/** A version of the token registry that was published. Treasury K15, K16. */
import { parseRegistry, shippedRegistry, type Registry } from '../../chains/catalogue.ts';
import type { Tokens } from '../../chains/tokens.ts';
import type { RegistryStore } from '../../model/ports/registry-store.ts';
import { isRefusal } from '../../protocol/errors.ts';

/** Null where none has the number. */
export async function registryAt(
  tokens: Pick<Tokens, 'current'>,
  registry: Pick<RegistryStore, 'published'>,
  version: number,
): Promise<Registry | null> {
  const known = [tokens.current, shippedRegistry].find((one) => one.version === version);
  if (known !== undefined) return known;
  const published = await registry.published(version);
  const parsed = published === null ? null : parseRegistry(JSON.parse(published.content));
  return parsed === null || isRefusal(parsed) ? null : parsed;
}
