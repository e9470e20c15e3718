import {answerByTwoWorkers} from '../../helpers/two-workers.ts';
import {redisOfOwn} from '../../helpers/workers.ts';

answerByTwoWorkers({REDIS_URL: redisOfOwn(4)});
