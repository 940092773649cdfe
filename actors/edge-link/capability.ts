/** The edge of an account. */
import type { EdgeLinkCommand, EdgeLinkState } from '../../model/account/edge-link.ts';
import type { EdgeLinkSees } from '../../model/account/capabilities.ts';
import type { Capability } from '../account/decision.ts';
import { decideRotation, enrol, resume } from './enrolment.ts';
import { edgeLinkFolds } from './evolve.ts';
import { claimLease, releaseLease } from './lease.ts';
import { noteLiveness } from './liveness.ts';

export const edgeLink: Capability<EdgeLinkCommand, EdgeLinkSees, EdgeLinkState> = {
  owns: ['enrolment', 'rotation', 'retired', 'lease', 'edge'],
  decide: {
    enrol,
    resume,
    resync: resume,
    decide_rotation: decideRotation,
    claim_lease: claimLease,
    release_lease: releaseLease,
    note_liveness: noteLiveness,
  },
  folds: edgeLinkFolds,
};
