// Tests that need nothing of a service but its address and its rows; those of them that move a clock or look inside have a
// process of their own.
import '../../accounts/api-keys/api-keys.ts';
import '../../links/links/delete.ts';
import '../../links/links/idempotency.ts';
import '../../links/links/read.ts';
import '../../visits/matches/token.ts';
import '../../visits/sdk/session.ts';
