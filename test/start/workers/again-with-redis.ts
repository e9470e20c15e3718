// The same tests as in again.ts.
import './_two-workers-with-redis.ts';
import './_from-outside.ts';
