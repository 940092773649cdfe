/**
 * What an operator does about each refusal to sign: the setting that decides (null where no setting may allow it) and
 * the next step. A reason without an entry is that of an unreadable payload, and gets the step of a false payload.
 */
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Chain } from '../../../protocol/slugs.ts';

export interface Step {
  readonly setting: string | null;
  readonly next: string;
}

const FALSE_PAYLOAD: Step = {
  setting: null,
  next: 'nothing was signed: what the cloud built is not what was asked for, compare expected and found. Build it again; where it comes again pay nothing through this cloud and show its operator the alarm',
};
const OWN_KEYS: Step = {
  setting: 'MNEMONIC_FILE',
  next: 'this edge derives another address there: compare phrase and passphrase with those that the address was made with, else the cloud named a false one',
};
const REGISTRY: Step = {
  setting: null,
  next: 'the token registry of this release has no such token on the chain: run the release that lists it, or compare its contract with the issuer',
};
const CLOCK: Step = {
  setting: 'clock',
  next: 'compare the clock of this machine with a time service, then build again; with a right clock the cloud built a payload that lives too long or not at all',
};
const COUNTER: Step = {
  setting: 'EDGE_VERIFY_RPC_<CHAIN>',
  next: 'look up the next nonce or sequence of the address; name your own node in the setting and it is believed. Else the cloud built ahead: build again',
};
const SIGNED_ONCE: Step = {
  setting: null,
  next: 'something is signed already that may land: look up its txid with GET /v1/transactions. Reprice that one, or wait until it is settled, before a new build',
};
const NOT_ASKED: Step = {
  setting: null,
  next: 'broadcast what this edge, or a replica that shares its instructions, built for a local key: POST /v1/transactions/unsigned, then its id',
};
const NOT_ON_CHAIN: Step = {
  setting: null,
  next: 'the chain has no such payment: leave out the tag, trustline or cancellation that it does not know',
};
const DESTINATION: Step = {
  setting: null,
  next: 'compare the destination with its owner: nothing that is sent there can come back, so no setting allows it',
};

const FIXED_BOUND: Step = {
  setting: null,
  next: 'the bound is fixed in this release, far above what honest payments need: wait until the market is calm and build again; where it stays so the cloud reads a false price',
};

export const STEPS: Readonly<Record<string, Step>> = {
  ...all(OWN_KEYS, [
    'from_mismatch',
    'from_path_mismatch',
    'not_the_gas_tank',
    'from_has_no_single_key',
    'funding_destination_not_derived',
  ]),
  ...all(REGISTRY, ['token_not_in_registry', 'decimals_mismatch']),
  ...all(CLOCK, [
    'no_clock',
    'expired',
    'expires_too_late',
    'expiration_too_far',
    'expiration_before_timestamp',
    'expiry',
    'expiry_missing',
    'expiry_mismatch',
    'locktime',
  ]),
  ...all(COUNTER, ['nonce_outside_window', 'sequence_outside_window', 'sequence_out_of_window']),
  ...all(SIGNED_ONCE, [
    'instruction_signed_before',
    'nonce_used',
    'sequence_used',
    'coin_used',
    'payload_used',
    'replacement_differs',
    'replacement_keeps_no_coin',
    'signed_under_another_key',
    'id_used_before',
    'another_instruction_under_this_id',
    'idempotency_key_of_another_id',
    'payload_of_another_payment',
  ]),
  ...all(NOT_ASKED, ['no_instruction', 'not_broadcast']),
  ...all(NOT_ON_CHAIN, [
    'not_a_bitcoin_instruction',
    'not_a_sol_instruction',
    'not_a_stellar_instruction',
    'not_a_tron_instruction',
    'not_an_evm_instruction',
    'not_an_xrp_instruction',
  ]),
  ...all(DESTINATION, ['destination_refused', 'destination_is_the_sender', 'payment_to_oneself']),
  ...all(FALSE_PAYLOAD, [
    'account_mismatch',
    'amount_mismatch',
    'asset_beside_token',
    'binding_changed_more_than_the_counter',
    'bump_of_unsigned',
    'cancel_destination',
    'chain_id_mismatch',
    'chain_mismatch',
    'change_not_of_sender',
    'change_of_a_send_all',
    'coin_twice',
    'contract_type',
    'created_owner_mismatch',
    'data_not_a_transfer',
    'data_not_empty',
    'destination_mismatch',
    'false_answer',
    'fee_limit',
    'fee_mismatch',
    'fee_payer_mismatch',
    'fee_source_mismatch',
    'gas_below_minimum',
    'input_count',
    'input_not_of_sender',
    'limit_mismatch',
    'malformed_binding',
    'malformed_build',
    'memo_mismatch',
    'muxed_id_mismatch',
    'nonce_mismatch',
    'not_canonical',
    'operation_mismatch',
    'outpoints_mismatch',
    'output_count',
    'outputs_above_inputs',
    'owner_mismatch',
    'previous_transaction_mismatch',
    'previous_transaction_missing',
    'rent_mismatch',
    'repricing_changed_more_than_the_fee',
    'repricing_changed_the_amount',
    'repricing_changed_the_replay_key',
    'send_max',
    'sender_mismatch',
    'sequence',
    'sequence_mismatch',
    'sighash_type',
    'signed_already',
    'source_mismatch',
    'summary_mismatch',
    'tag_mismatch',
    'token_mismatch',
    'too_large',
    'transaction_type',
    'transaction_version',
    'value_beside_token',
  ]),
  ...all(FIXED_BOUND, ['fee_cap', 'fee_rate_cap', 'gas_limit', 'unit_limit']),
  instruction_expired: {
    setting: 'EDGE_INSTRUCTION_TTL',
    next: 'broadcast it again: its broadcast is older than the setting allows',
  },
  sweep_destination_not_allowed: {
    setting: 'EDGE_SWEEP_TREASURY_ALLOWLIST',
    next: 'put the treasury address into the setting of every replica if it is yours; else look who changed the sweep policy',
  },
  from_not_a_deposit_path: {
    setting: null,
    next: "nothing was signed: sweeps leave customers' addresses and registered sources only. An honest cloud asks for nothing else: show its operator the alarm",
  },
  funding_count: {
    setting: 'EDGE_SPEND_WINDOW',
    next: 'an address gets gas four times within the window at most: look at its sweeps, and wait until the window has passed',
  },
  ...all(
    {
      setting: 'EDGE_REGISTRY_KEYS',
      next: 'the kept registry stays in use: compare version and keys with what the platform published; where they agree show its operator the alarm',
    },
    ['registry_malformed', 'registry_not_signed'],
  ),
  token_not_sweepable: {
    setting: null,
    next: 'the token registry of this edge says that whole balances of this token cannot be moved: sweep it by hand',
  },
  role_not_on_chain: {
    setting: null,
    next: 'the chain has no such operation at this edge: fundings exist on EVM chains, TRON and XRP, bridges on EVM chains',
  },
  ...all(
    {
      setting: null,
      next: 'nothing was signed: a bridge moves USDC between the derived treasuries of routes that the token registry of this edge has open. Compare GET /v1/treasury/routes; an honest cloud asks for nothing else, so show its operator the alarm',
    },
    ['route_not_open', 'not_the_treasury', 'bridge_part', 'call_mismatch', 'bridge_amount', 'message_differs'],
  ),
  bridge_recipient_not_allowed: {
    setting: 'EDGE_SWEEP_TREASURY_ALLOWLIST',
    next: 'a bridge pays the derived treasury of the other chain, or an entry that names that chain (chain:ADDRESS): put it into the setting of every replica if it is yours; else look who changed the bridge policy',
  },
  bridge_fee: {
    setting: null,
    next: 'the burn would let the bridge keep more than a thousandth: wait until its fee is low again and start another transfer',
  },
  btc_sweeps_off: {
    setting: 'EDGE_BTC_SWEEPS',
    next: 'sweeps of Bitcoin are off at this edge: set it to on at every replica, or pause the policy',
  },
  sweeps_stopped: {
    setting: null,
    next: 'an operator stopped sweeps at this edge: flock-edge sweeps start lets them go on',
  },
};

function all(step: Step, reasons: readonly string[]): Record<string, Step> {
  return Object.fromEntries(reasons.map((reason) => [reason, step]));
}

/** The step of a reason. */
export const stepOf = (reason: string): Step => (Object.hasOwn(STEPS, reason) ? STEPS[reason]! : FALSE_PAYLOAD);

/** Setting and next step of a refusal, for a log line. */
export function stepIn({ details }: Pick<Refusal, 'details'>): { setting?: string; next?: string } {
  const { setting, next } = details;
  return {
    ...(typeof setting === 'string' ? { setting } : {}),
    ...(typeof next === 'string' ? { next } : {}),
  };
}

/** The refusal of a chain that this release of the edge cannot sign for. */
export const noSigner = (chain: Chain): Refusal =>
  refuse('CHAIN_UNAVAILABLE', {
    chain,
    permanent: true,
    reason: 'this edge does not sign for the chain',
    setting: 'EDGE_CHAINS',
    next: 'put the chain into the setting and start this edge again; where it is there, run a release that signs for it',
  });
