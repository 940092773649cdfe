/** What answers of a sandbox's levers are: the simulated world is the cloud's. */
import { nothing, word } from './known.ts';

export const SANDBOX_RULES = {
  simulateDeposit: word('txid', 'outputIndex', 'height'),
  simulateConfirmation: word('confirmations'),
  simulateStuck: word('stuck', 'mined', 'mined.*'),
  simulateReplaced: word('txid', 'height'),
  simulateEdgeOffline: word('until'),
  getSandboxClock: word('now', 'aheadSeconds'),
  advanceSandboxClock: word('now', 'ran', 'ran.*.at', 'ran.*.what', 'ran.*.id'),
  simulateEndpointFailure: word('webhookId', 'attempts'),
  simulateReorg: word('depth'),
  simulateChainDown: word('until'),
  simulateActivity: word('addresses', 'historical', 'live', 'txids', 'txids.*'),
  simulateConflict: word('address', 'batchId'),
  simulateDuplicateDelivery: word('deliveryIds', 'deliveryIds.*'),
  resetSandbox: { falseField: nothing, word: [] },
};
