/** What was done in the organization, and by whom it is read. */
import '../ui/together.ts';
export { AuditLog } from './audit-log.tsx';
export { SupportAccess } from './support-access.tsx';
