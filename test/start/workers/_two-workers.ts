import {answerByTwoWorkers} from '../../helpers/two-workers.ts';

answerByTwoWorkers({});
