// Tests that need nothing of a service but its address and its rows; those of them that move a clock or look inside have a
// process of their own.
import '../admin/api-keys.ts';
import '../links/delete.ts';
import '../links/idempotency.ts';
import '../links/read.ts';
import '../match/token.ts';
import '../sdk/session.ts';
