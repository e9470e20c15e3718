import './_two-workers-with-redis.ts';
import './_from-outside.ts';
