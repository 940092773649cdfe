/** What was done in the organization, and by whom it is read. */
import '../ui/together.ts';
export { AuditLog } from './audit-log.tsx';
export { WipePage } from './wipe.tsx';
export { SupportAccess } from './support-access.tsx';
