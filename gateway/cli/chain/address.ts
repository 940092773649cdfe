/** The `address` operation: whether a text is an address that the service would take, and its one canonical form. */
import { factsOf, networkOf } from '../../../chains/registry.ts';
import type { ParsedAddress } from '../../../chains/chain.ts';
import { parseAccount } from '../../../chains/xlm/address.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import type { Request } from '../../../protocol/node/json-lines.ts';
import { chainField, textField } from '../../../protocol/node/request-fields.ts';
import type { Chain } from '../../../protocol/slugs.ts';

/**
 * `{valid, canonical, kind}` (an X-address adds its `tag`), or `{valid: false, reason}`. Refuses: INVALID_CHAIN,
 * INVALID_INPUT.
 */
export function address(request: Request): object {
  const chain = chainField(request);
  const text = textField(request, 'address');
  const parsed = parse(chain, text);
  if (!parsed.ok) {
    const { reason } = parsed.details;
    return { valid: false, reason: typeof reason === 'string' ? reason : parsed.message };
  }
  const { canonical, kind, tag } = parsed;
  return chain === 'xrp' && canonical !== text
    ? { valid: true, canonical, kind, tag }
    : { valid: true, canonical, kind };
}

/** A muxed account is a destination and never an address that is issued or compared (chains.md 9.1). */
function parse(chain: Chain, text: string): ParsedAddress | Refusal {
  return chain === 'xlm' ? parseAccount(networkOf(chain), text) : factsOf(chain).parseAddress(networkOf(chain), text);
}
