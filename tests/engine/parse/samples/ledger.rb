# frozen_string_literal: true

require "json"
require "active_support/concern"
require_relative "money"
require_relative "../errors/ledger_error"

# Everything that books money.
module Accounting
  # The currency used when an account names none.
  DEFAULT_CURRENCY = "EUR"

  # Adds an audit trail to whatever includes it.
  module Auditable
    extend ActiveSupport::Concern

    # Remembers one event.
    # Oldest first.
    def audit(event, actor: "system", **details)
      entries << AuditEntry.new(event, actor, details)
    end

    def entries
      @entries ||= []
    end
  end

  AuditEntry = Struct.new(:event, :actor, :details) do
    def to_s
      "#{actor}: #{event}"
    end
  end

  # Raised when an account would go below its limit.
  class OverdraftError < LedgerError; end

  # One account with its postings.
  class Account < ApplicationRecord
    include Auditable
    include Comparable
    extend Forwardable

    LIMIT = 500

    attr_reader :owner, :balance
    attr_accessor :nickname
    has_many :postings
    scope :active, -> { where(closed: false) }
    def_delegators :@postings, :size, :each

    # Opens an account for an owner.
    #
    # @param owner [String] who it belongs to
    def initialize(owner, balance = Money.zero)
      super()
      @owner = owner
      @balance = balance
    end

    class << self
      # Finds an account or opens one.
      def find_or_open(owner)
        find_by(owner: owner) || new(owner)
      end
    end

    # Reads accounts from a file.
    def self.load(path, *filters, strict: false, &block)
      JSON.parse(File.read(path)).map { |row| Importer::Row.build(row).to_account(strict) }
    end

    def <=>(other)
      balance <=> other.balance
    end

    # Whether nothing is owed.
    def settled?
      balance.zero?
    end

    def withdraw!(amount)
      raise OverdraftError, "limit" if balance - amount < -LIMIT

      @balance -= amount
      audit(:withdraw, amount: amount)
      notify_owner
    end

    def balance=(value)
      @balance = Money.coerce(value)
    end

    define_method(:deposit) do |amount|
      @balance += amount
    end

    private

    def notify_owner
      Notifier.deliver(owner) unless settled?
    end
  end

  class Savings < Account
    def interest = balance * rate
  end
end

class Accounting::Report::Monthly
  def render(template)
    template.render(Accounting::Account.load("accounts.json"))
  end
end

def print_all(accounts)
  accounts.each { |account| puts account }
end

print_all(Accounting::Account.load("accounts.json"))
