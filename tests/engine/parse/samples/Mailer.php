<?php

declare(strict_types=1);

namespace App\Mail;

use App\Contracts\Transport;
use App\Support\{Clock, Retry as RetryPolicy};
use Psr\Log\LoggerInterface as Logger;
use function App\Support\slug;
use const App\Support\MAX_BYTES;

require_once __DIR__ . '/bootstrap.php';
include 'helpers.php';

const DEFAULT_SENDER = 'noreply@example.org';
define('MAILER_VERSION', '2.1');

/**
 * How urgent a message is.
 */
enum Priority: int implements HasLabel
{
    case Low = 1;
    case High = 9;

    const FALLBACK = self::Low;

    public function label(): string
    {
        return ucfirst(strtolower($this->name));
    }
}

/** Anything that can be sent. */
interface Sendable extends \Countable, Renderable
{
    /** The text that goes out. */
    public function render(array $data = []): string;
}

/** Counts how often something was tried. */
trait CountsAttempts
{
    protected int $attempts = 0;

    protected function attempt(callable $work): mixed
    {
        $this->attempts++;
        return $work($this->attempts);
    }
}

/**
 * Sends messages and tries again when a transport fails.
 *
 * @template T of Sendable
 */
#[Singleton, Bind(MailerContract::class)]
final class Mailer extends AbstractMailer implements MailerContract, Resettable
{
    use CountsAttempts;
    use Macroable, Tappable {
        Tappable::tap insteadof Macroable;
    }

    public const LIMIT = 50;
    private static ?Mailer $instance = null;
    private Queue $queue;

    /** Wires the mailer up. */
    public function __construct(
        private readonly Transport $transport,
        private Logger $logger,
        Clock|null $clock = null,
        protected int $retries = 3,
    ) {
        parent::__construct($clock);
        $this->queue = new Queue(self::LIMIT);
    }

    /**
     * Sends one message.
     *
     * @throws DeliveryFailed when every attempt failed
     */
    #[Route('/send', methods: ['POST'])]
    public function send(Sendable $message, string ...$recipients): Receipt
    {
        $policy = new RetryPolicy($this->retries, MAX_BYTES);
        $result = $policy->run(fn (int $try) => $this->transport->deliver($message->render(), $recipients));
        $this->logger?->info('sent', ['slug' => slug($result)]);
        if (!$result instanceof Receipt) {
            throw new DeliveryFailed($result);
        }
        return $result;
    }

    public static function instance(): static
    {
        return self::$instance ??= static::make();
    }
}

// Formats an address for the header.
function format_address(string $name, ?string $mail = DEFAULT_SENDER): string
{
    return sprintf('%s <%s>', \App\Support\quote($name), $mail);
}

$anonymous = new class($logger) implements Sendable {
    public function render(array $data = []): string
    {
        return Template::load('plain')->fill($data);
    }
};

Mailer::instance()->send($anonymous, format_address('Ada'));
