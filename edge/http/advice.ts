/**
 * What a person changes when the cloud refuses this edge: the setting, and the next step. For the log, the status page
 * and who started the process; a refusal that heals by itself has no advice.
 */
import type { ErrorCode, Refusal } from '../../protocol/errors.ts';

export interface Advice {
  readonly setting: string;
  readonly next: string;
}

const KEY: Advice = {
  setting: 'API_KEY',
  next: 'the cloud does not know this key: it is mistyped, revoked or of another cloud. Have one minted (flock api-keys mint), or correct CLOUD_URL',
};

const BY_CODE: Partial<Record<ErrorCode, Advice>> = {
  UNAUTHORIZED: KEY,
  FORBIDDEN: { setting: 'API_KEY', next: 'the key may not register an edge: have one minted for this account' },
  EDGE_SIGNATURE_SKEW: {
    setting: 'clock',
    next: "this machine's clock is more than 300 seconds off: run a time service",
  },
  EDGE_SIGNATURE_INVALID: {
    setting: 'MNEMONIC_FILE',
    next: 'another recovery phrase than the registered one, or a proxy before CLOUD_URL that changes requests: an owner approves the new identity, or the phrase is put right',
  },
  IDENTITY_ROTATION_PENDING: {
    setting: 'MNEMONIC_FILE',
    next: 'another recovery phrase than the registered one: an owner approves or rejects the rotation in the console, or the phrase is put right',
  },
  CROSS_ENVIRONMENT_IDENTITY: {
    setting: 'MNEMONIC_FILE',
    next: "this recovery phrase is registered in the organization's other environment: each environment has a phrase of its own",
  },
  EDGE_VERSION_UNSUPPORTED: {
    setting: 'version',
    next: 'this edge is older than the cloud accepts: run the current version',
  },
  ACCOUNT_SUSPENDED: {
    setting: 'API_KEY',
    next: 'the account is suspended: its owner contacts the operator of the cloud',
  },
  NOT_FOUND: {
    setting: 'CLOUD_URL',
    next: 'what answers there is no Flock cloud: CLOUD_URL is the origin alone, without a path',
  },
  METHOD_NOT_ALLOWED: {
    setting: 'CLOUD_URL',
    next: 'what answers there is no Flock cloud: CLOUD_URL is the origin alone, without a path',
  },
};

const NO_CLOUD = 'no Flock cloud answers there';
/** Reasons of UPSTREAM_UNAVAILABLE: the system's and undici's codes, and the edge's own. */
const BY_REASON: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at CLOUD_URL: check host and port, and that the cloud runs',
  ENOTFOUND: 'the host of CLOUD_URL has no address: check its spelling and the name server',
  EAI_AGAIN: 'the name server does not answer for the host of CLOUD_URL',
  EHOSTUNREACH: 'no route to the host of CLOUD_URL: check network and firewall',
  ENETUNREACH: 'no route to the host of CLOUD_URL: check network and firewall',
  UND_ERR_CONNECT_TIMEOUT: 'the host of CLOUD_URL does not take the connection: check host, port and firewall',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'the certificate at CLOUD_URL is signed by itself: name its authority in NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'the authority of the certificate at CLOUD_URL is unknown: name it in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the authority of the certificate at CLOUD_URL is unknown: name it in NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'the certificate at CLOUD_URL has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate at CLOUD_URL is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'CLOUD_URL says https, and what answers there speaks http',
  no_envelope: `${NO_CLOUD}: CLOUD_URL is the origin alone, without a path; a proxy before it must pass answers unchanged`,
};

const OTHER_HOST: Advice = {
  setting: 'CLOUD_URL',
  next: 'the cloud has another name than the host of CLOUD_URL: take its PUBLIC_URL, or have its operator add this host to PUBLIC_AUTHORITIES; a proxy passes Host on unchanged',
};

/** Null where waiting is all there is to do. */
export function adviceFor({ code, details }: Pick<Refusal, 'code' | 'details'>): Advice | null {
  if (code === 'EDGE_SIGNATURE_INVALID' && details['reason'] === 'authority') return OTHER_HOST;
  if (code !== 'UPSTREAM_UNAVAILABLE') return Object.hasOwn(BY_CODE, code) ? BY_CODE[code]! : null;
  const reason = String((details as { reason?: unknown }).reason ?? '');
  const next = Object.hasOwn(BY_REASON, reason)
    ? BY_REASON[reason]!
    : 'the cloud does not answer at CLOUD_URL: check that it runs and can be reached from here';
  return { setting: 'CLOUD_URL', next };
}
