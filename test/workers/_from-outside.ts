// Tests that need nothing of a service but its address; those of them that move a clock have a process of their own.
import '../links/create.ts';
import '../links/delete.ts';
import '../links/idempotency.ts';
import '../links/read.ts';
import '../sdk/session.ts';
