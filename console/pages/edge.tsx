/** The customer's edge: how it is, how it is started, and a phrase that changed. */
import '../ui/together.ts';
export { EdgeStatus } from './edge-status.tsx';
export { EdgeSetup } from './edge-setup.tsx';
export { Rotations } from './rotations.tsx';
