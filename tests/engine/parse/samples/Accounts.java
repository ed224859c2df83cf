package com.example.bank;

import java.util.List;
import java.util.concurrent.*;
import static com.example.bank.Money.round;

/**
 * Keeps the accounts.
 *
 * @since 1
 */
@Service
@RequestMapping(path = "/accounts")
public class Accounts extends Base<Account> implements Store<Account>, AutoCloseable {
    /** How many at most. */
    public static final int LIMIT = 100;
    private final Ledger ledger;
    @Autowired private Clock clock;
    private List<Account> open = new CopyOnWriteArrayList<>();

    public Accounts(Ledger ledger, Audit... audits) {
        super(ledger, 1);
        this.ledger = ledger;
    }

    // Finds one account.
    @Override
    public Account find(String id, int version) throws NotFound {
        Account account = ledger.load(id, version).orElseThrow(NotFound::new);
        var copy = new Account(account);
        for (Entry entry : account.entries()) {
            round(entry.amount());
        }
        if (account instanceof Savings savings) {
            savings.accrue();
        }
        return this.clock.stamp(copy);
    }

    public <T extends Comparable<T>> T best(List<? extends T> items) {
        Runnable task = () -> {
            int hidden = 1;
            close();
        };
        return Collections.max(items, /* by */ null);
    }

    @Override
    public void close() {
        try (Session session = ledger.session()) {
            session.end();
        } catch (SessionException error) {
            throw new IllegalStateException(error);
        }
    }

    enum State implements Labelled {
        OPEN("open"),
        CLOSED("closed") {
            @Override
            String label() {
                return "x";
            }
        };

        private final String text;

        State(String text) {
            this.text = text;
        }

        String label() {
            return text;
        }
    }

    /** What happened. */
    record Entry(long amount, Account from) {
        Entry {
            Objects.requireNonNull(from);
        }
    }

    interface Listener extends EventListener {
        int PRIORITY = 1;

        void changed(Account account);

        default void ended() {}
    }

    @interface Checked {
        String value() default "";
    }
}
